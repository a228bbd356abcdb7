package program

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"
)

// Result is what a command that has ended has left.
type Result struct {
	// Stdout and Stderr are what it wrote.
	Stdout, Stderr string
	// Code is its exit code, -1 if a signal has ended it.
	Code int
}

// Output is all that the command wrote: Stdout, and Stderr behind it.
func (r Result) Output() string { return r.Stdout + r.Stderr }

// Run runs a command, which can't be used again, until it has ended, whatever its exit code. One that can't be run
// fails the test. What a Stdout or Stderr gets that the command has already isn't in the Result.
//
// If the command leaves a process behind that holds its output open, Run waits for that for a while.
//
// Nothing bounds how long it may take but the context of a command that has one, whose end kills it. As with Start the
// test binary is the program.
func Run(t testing.TB, command *exec.Cmd) Result {
	t.Helper()
	prepare(t, command)
	var stdout, stderr bytes.Buffer
	if command.Stdout == nil {
		command.Stdout = &stdout
	}
	if command.Stderr == nil {
		command.Stderr = &stderr
	}
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		t.Fatalf("program: run %s: %v\n%s%s", nameOf(command), err, &stdout, &stderr)
	}
	return Result{Stdout: stdout.String(), Stderr: stderr.String(), Code: command.ProcessState.ExitCode()}
}
