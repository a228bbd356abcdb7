package cli

import (
	"errors"
	"fmt"
	"io"
)

// Usage returns an error about the arguments. The exit code of the program is then 2.
func Usage(format string, args ...any) error { return exitError{fmt.Errorf(format, args...), 2} }

// exitError ends a command with an exit code of its own.
type exitError struct {
	error
	code int
}

func (e exitError) Unwrap() error { return e.error }
func (e exitError) ExitCode() int { return e.code }

// ExitCode reports the error of a command and returns the exit code of the program. An error may have a method
// ExitCode.
func ExitCode(called string, err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	if !errors.Is(err, errDifferent) {
		fmt.Fprintf(stderr, "%s: %v\n", called, err)
	}
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return 1
}
