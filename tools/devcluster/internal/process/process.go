package process

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/operkit/operkit/tools/devcluster/internal/lifeline"
)

// Spec is a process to start. Path, Dir and Log must be absolute.
type Spec struct {
	Path  string   // program
	Args  []string // its arguments, without argv[0]
	Dir   string   // working directory
	Env   []string // environment; nil for that of this process
	Log   string   // file that standard output and error are appended to
	Files []*os.File
	Line  *lifeline.Line
}

// Process is a started child. Its methods may be called concurrently.
type Process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
	err  error // set before done is closed
}

// Start starts the child in a process group of its own, so that a terminal's Ctrl-C reaches only
// this process, which then stops its children in order.
func Start(spawner *Spawner, spec Spec) (*Process, error) {
	log, err := os.OpenFile(spec.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(spec.Path, spec.Args...)
	cmd.Dir, cmd.Env, cmd.ExtraFiles = spec.Dir, spec.Env, append([]*os.File(nil), spec.Files...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if spec.Line != nil {
		spec.Line.Attach(cmd)
	}
	if err := spawner.Start(cmd, lifeline.Signal); err != nil {
		return nil, err
	}
	p := &Process{cmd: cmd, log: spec.Log, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// PID returns the process id, also after the process has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Log returns the path of the log file.
func (p *Process) Log() string { return p.log }

// Done is closed when the process has ended and was reaped.
func (p *Process) Done() <-chan struct{} { return p.done }

// Outcome waits for the end of the process and returns how it ended, such as "exit status 1".
func (p *Process) Outcome() string {
	<-p.done
	if p.err != nil {
		return p.err.Error()
	}
	return "exit status 0"
}

// Kill ends the process at once and waits until it is gone.
func (p *Process) Kill() {
	// An error means that the process has ended already.
	_ = p.cmd.Process.Kill()
	<-p.done
}

// Stop sends the process SIGTERM, kills it if it still runs after grace, and waits until it is gone.
func (p *Process) Stop(grace time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.Kill()
	}
}
