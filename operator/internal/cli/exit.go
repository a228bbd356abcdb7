package cli

import (
	"errors"
	"fmt"
	"io"

	"github.com/operkit/operkit/operator/internal/settings"
)

// usageError is a mistake in the arguments.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// Usage returns an error about the arguments. The exit code of the program is then 2.
func Usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

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
	var usage usageError
	var wrong *settings.Error
	switch {
	case errors.As(err, &coded):
		return coded.ExitCode()
	case errors.As(err, &usage) || errors.As(err, &wrong):
		return 2
	}
	return 1
}
