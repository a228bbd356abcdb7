package program

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

const (
	// Patience is how long Wait and Stop wait for the end of a process.
	Patience = time.Minute
	// held is how long to wait for more output after a process has ended: its child processes may hold the output open.
	held = 5 * time.Second
)

// Process is a program that a test has started. It is safe for concurrent use, except for methods that take a test:
// call these from the test's own goroutine.
type Process struct {
	command *exec.Cmd
	output  output
	ended   chan struct{}
}

// Start starts a command. At the end of the test it kills the process if it still runs, waits for it, and logs its
// output if the test has failed. A command that can't be started fails the test.
//
// Process.Output returns the output of the process. If the command has a Stdout or Stderr of its own, Process.Output
// doesn't have that stream. Start adds a variable to the environment, which makes the test binary run as the program.
func Start(t testing.TB, command *exec.Cmd) *Process {
	t.Helper()
	prepare(t, command)
	p := &Process{command: command, ended: make(chan struct{})}
	if command.Stdout == nil {
		command.Stdout = &p.output
	}
	if command.Stderr == nil {
		command.Stderr = &p.output
	}
	if err := command.Start(); err != nil {
		t.Fatalf("program: start %s: %v", nameOf(command), err)
	}
	go func() {
		defer close(p.ended)
		_ = command.Wait() // the error is in the exit code
	}()
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("output of %s:\n%s", nameOf(p.command), p.Output())
		}
	})
	return p
}

// Output returns the output of the process so far, stdout and stderr together.
func (p *Process) Output() string { return p.output.String() }

// PID returns the process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Running reports whether the process hasn't ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Kill ends the process by SIGKILL, and returns when it has ended. It does nothing if the process has ended already.
func (p *Process) Kill() {
	_ = p.command.Process.Kill() // fails only if the process has ended already
	<-p.ended
}

// Signal sends the process a signal. It fails the test if the process has ended.
func (p *Process) Signal(t testing.TB, signal os.Signal) {
	t.Helper()
	if err := p.command.Process.Signal(signal); err != nil {
		t.Fatalf("program: %s: %s: %v\n%s", nameOf(p.command), signal, err, p.Output())
	}
}

// Wait waits until the process has ended, and returns its exit code, or -1 if a signal has ended it. It fails the test
// if the process hasn't ended within Patience.
func (p *Process) Wait(t testing.TB) (code int) {
	t.Helper()
	return p.wait(t, Patience)
}

func (p *Process) wait(t testing.TB, patience time.Duration) (code int) {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("program: %s: hasn't ended after %s:\n%s", nameOf(p.command), patience, p.Output())
	}
	return p.command.ProcessState.ExitCode()
}

// Stop sends the process SIGTERM, waits for its end, and returns its exit code as Wait does.
func (p *Process) Stop(t testing.TB) (code int) {
	t.Helper()
	p.Signal(t, syscall.SIGTERM)
	return p.Wait(t)
}
