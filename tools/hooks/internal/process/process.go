package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

const (
	// Memory is how much memory a process may have without another limit, in bytes.
	Memory = 1 << 30
	// grace is how long a process has to end after SIGTERM.
	grace = 500 * time.Millisecond
	// held is how long the output of a process is read after its end: a process outside of its group may hold it open.
	held = time.Second
)

// Spec says what is started.
type Spec struct {
	// Command is the absolute path of the program, and its arguments.
	Command []string
	// Dir is the working folder, empty for the present one.
	Dir string
	// Env is the whole environment, each entry in the form NAME=value.
	Env []string
	// Memory bounds the memory in which the process, and each process that it starts, may write, in bytes. Zero means
	// Memory. It needs the program sh, and has no effect on other systems than Linux.
	Memory int64
	// Marker is an entry of Env that no other process has. A process that has left the group ends with it if it still has
	// this entry in its environment. Empty, such processes aren't looked for. It has no effect on other systems than
	// Linux.
	Marker string
	// Stderr gets what the process writes to its standard error, besides Process.Text. It may be nil. It isn't used any
	// more when Said is closed.
	Stderr io.Writer
}

// Process is a running program in a process group of its own. End has to be called.
type Process struct {
	// Stdin and Stdout are our ends of its input and output.
	Stdin, Stdout *os.File

	command *exec.Cmd
	stderr  Tail
	ended   chan struct{}
	failure error
	said    chan struct{}
}

// Start starts a process. It ends with this process.
func Start(spec Spec) (*Process, error) {
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
		return nil, err
	}
	if spec.Memory == 0 {
		spec.Memory = Memory
	}
	arguments := limited(spec.Command, spec.Memory)
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir, command.Env = spec.Dir, spec.Env
	command.Stdin, command.Stdout, command.Stderr = stdin, stdout, stderr
	command.SysProcAttr = apart()
	if err := command.Start(); err != nil {
		closeAll()
		return nil, err
	}
	for _, file := range []*os.File{stdin, stdout, stderr} { // the other ends are those of the process
		_ = file.Close()
	}
	p := &Process{Stdin: in, Stdout: out, command: command, ended: make(chan struct{}), said: make(chan struct{})}
	go p.hear(says, spec.Stderr)
	go func() {
		defer close(p.ended)
		awaitExit(command.Process.Pid) // its pid and its group exist until it is waited for
		killGroup(command.Process.Pid)
		p.failure = command.Wait()
		if spec.Marker != "" {
			EndMarked(spec.Marker)
		}
		_ = p.Stdout.SetReadDeadline(time.Now().Add(held))
		_ = says.SetReadDeadline(time.Now().Add(held))
	}()
	return p, nil
}

// hear reads the standard error.
func (p *Process) hear(says *os.File, other io.Writer) {
	defer close(p.said)
	defer func() { _ = says.Close() }()
	var all io.Writer = &p.stderr
	if other != nil {
		all = io.MultiWriter(all, other)
	}
	_, _ = io.Copy(all, says) // best effort: it is for people
}

// Ended returns a channel that is closed when the process has ended, with all processes of its group and those that
// have its Marker.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Err returns how the process has ended, an *exec.ExitError, or nil for the exit code zero. It must not be called before
// Ended is closed.
func (p *Process) Err() error { return p.failure }

// Said returns a channel that is closed when the standard error has been read, at most a second after the end.
func (p *Process) Said() <-chan struct{} { return p.said }

// Text returns the end of what the process has written to its standard error.
func (p *Process) Text() string { return p.stderr.String() }

// End ends the process and its group, if they still run, and returns when nothing of it is left.
func (p *Process) End() {
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
	_ = p.Stdin.Close()
	_ = p.Stdout.Close()
	<-p.said
}

// Bound ends reads and writes of the process when ctx ends.
func (p *Process) Bound(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, func() {
		_ = p.Stdin.SetWriteDeadline(time.Now())
		_ = p.Stdout.SetReadDeadline(time.Now())
	})
}

// Waiting returns how many bytes of its output can be read at once.
func (p *Process) Waiting() int { return waiting(p.Stdout) }
