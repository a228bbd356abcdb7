package setupcommand

import (
	"context"
	"errors"
	"fmt"

	"github.com/operkit/operkit/vcs"
)

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitNoMatch     = 3
	exitContention  = 4
	exitInterrupted = 130
)

// exitCodes explains the exit codes in the help.
var exitCodes = [][]string{
	{"0", "the repository was made, or with --dry-run could be made"},
	{"1", "it failed: for example, the disk is full, the source is broken, or --verify found a mistake"},
	{"2", "the arguments are wrong, or the source or the destination can't be used"},
	{"3", "no expression matches a tag or a branch"},
	{"4", "somebody else is working on the destination: try again"},
	{"130", "it was interrupted"},
}

// exitError ends a command with an exit code.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// ExitCode returns the exit code of the program.
func (e *exitError) ExitCode() int { return e.code }

func usage(err error) error { return &exitError{err, exitUsage} }

// ExitCode returns the exit code for an error that the command returned. The help of the command lists the codes. It
// returns 0 for nil, and 1 for errors without an exit code.
func ExitCode(err error) int {
	var own interface{ ExitCode() int }
	switch {
	case err == nil:
		return 0
	case errors.As(err, &own):
		return own.ExitCode()
	}
	return exitFailed
}

// coded adds the exit code to an error of vcs.Setup.
func coded(err error) error {
	var none *vcs.NoMatchError
	var config *vcs.ConfigError
	var contention *vcs.ContentionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, context.Canceled):
		return &exitError{errors.New("interrupted: nothing was changed"), exitInterrupted}
	case errors.As(err, &none):
		return &exitError{fmt.Errorf("%w: choose what to keep with --tag-expr and --branch-expr", err), exitNoMatch}
	case errors.As(err, &config):
		return &exitError{err, exitUsage}
	case errors.As(err, &contention):
		return &exitError{err, exitContention}
	}
	return &exitError{err, exitFailed}
}
