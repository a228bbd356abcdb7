package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// grace is how long a process has to end after SIGTERM.
	grace = 500 * time.Millisecond
	// held is how long the output of a process is read after its end: a process outside of its group may hold it open.
	held = time.Second
)

// process is a running program in a process group of its own.
type process struct {
	name    string
	command *exec.Cmd
	// stdin and stdout are our ends of its input and output.
	stdin, stdout *os.File
	stderr        tail
	// ended is closed when the process has ended, with all processes of its group. failure is how, nil for the exit
	// code zero.
	ended   chan struct{}
	failure error
	// said is closed when its standard error has been read.
	said chan struct{}
}

// start starts a process.
func (c *Config) start() (*process, error) {
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	closeAll := func() {
		for _, file := range files {
			_ = file.Close()
		}
	}
	stdin, in, err := pipe()
	out, stdout, err2 := pipe()
	says, stderr, err3 := pipe()
	if err := errors.Join(err, err2, err3); err != nil {
		closeAll()
		return nil, fmt.Errorf("hook %s: %w", c.name(), err)
	}
	arguments := limited(c.Command, c.Memory)
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir, command.Env = c.Dir, c.Env
	command.Stdin, command.Stdout, command.Stderr = stdin, stdout, stderr
	command.SysProcAttr = apart()
	if err := command.Start(); err != nil {
		closeAll()
		return nil, fmt.Errorf("hook %s: %w", c.name(), err)
	}
	for _, file := range []*os.File{stdin, stdout, stderr} { // the other ends are those of the process
		_ = file.Close()
	}
	p := &process{name: c.name(), command: command, stdin: in, stdout: out, ended: make(chan struct{}), said: make(chan struct{})}
	go func() {
		defer close(p.said)
		defer func() { _ = says.Close() }()
		_, _ = io.Copy(&p.stderr, says) // best effort: it is for people
	}()
	go func() {
		defer close(p.ended)
		awaitExit(command.Process.Pid) // its pid and its group exist until it is waited for
		killGroup(command.Process.Pid)
		p.failure = command.Wait()
		_ = p.stdout.SetReadDeadline(time.Now().Add(held))
		_ = says.SetReadDeadline(time.Now().Add(held))
	}()
	return p, nil
}

// end ends the process and its group, if they still run, and returns when nothing of it is left.
func (p *process) end() {
	select {
	case <-p.ended:
	default:
		terminateGroup(p.command.Process.Pid)
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-p.ended:
		case <-timer.C:
			killGroup(p.command.Process.Pid)
			<-p.ended
		}
	}
	_ = p.stdin.Close()
	_ = p.stdout.Close()
	<-p.said
}

// bound ends reads and writes of the process when ctx ends.
func (p *process) bound(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = p.stdin.SetWriteDeadline(time.Now())
		_ = p.stdout.SetReadDeadline(time.Now())
	})
}
