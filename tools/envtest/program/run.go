package program

import (
	"bytes"
	"errors"
	"os/exec"
	"testing"
)

// Result is the result of a command that has ended.
type Result struct {
	// Stdout and Stderr are its output.
	Stdout, Stderr string
	// Code is its exit code, or -1 if a signal has ended it.
	Code int
}

// Output returns all output of the command: Stdout, followed by Stderr.
func (r Result) Output() string { return r.Stdout + r.Stderr }

// Run runs a command until it has ended, whatever its exit code. The command can't be used again. If it can't be run,
// the test fails. If the command has a Stdout or Stderr of its own, that stream isn't in the Result.
//
// If a child process of the command still runs and holds the output open, Run waits at most a few seconds for more
// output.
//
// Run has no time limit of its own. The end of the command's context kills the command. As with Start, the program
// under test is the test binary itself: started by the command, it runs the function that was passed to Main.
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
