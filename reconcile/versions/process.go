package versions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// process is one process of a version, from its start to its end.
type process struct {
	version *version
	pool    *Pool
	command *exec.Cmd
	pipes   pipes
	peer    *wire.Peer
	started time.Time
	// declaration has the kinds that the process controls.
	declaration *wire.Declaration
	// stopped: the manager has asked the process to end.
	stopped atomic.Bool
	// These channels are closed in this order. known: the version has recorded the process, or has given it up. exited:
	// the process has exited. ended: all of its output has been read. over: version.ended has been called. err is how
	// the process ended, with the last lines of its standard error.
	known, exited, ended, over chan struct{}
	err                        error
	// externals are the targets for which the external sources of the process run.
	externals sync.Map
	patience  patience
	// last are the last lines of its standard error.
	last lastLines
}

// begin starts a process of a version and gets its declaration.
func (p *Pool) begin(ctx context.Context, v *version) (*process, error) {
	proc := &process{
		version: v, pool: p, started: time.Now(),
		known: make(chan struct{}), exited: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{}),
	}
	if err := proc.launch(); err != nil {
		return nil, fmt.Errorf("its program can't be started: %w", err)
	}
	proc.peer = wire.NewPeer(proc.pipes.stdout, proc.pipes.stdin, proc.handle)
	p.running.Go(proc.run) // Close waits for it
	if err := proc.hello(ctx); err != nil {
		close(proc.known)
		proc.stop()
		return nil, proc.because(err)
	}
	return proc, nil
}

// launch starts the program.
func (proc *process) launch() error {
	o := proc.pool.options
	command := exec.Command(o.program(proc.version.name), o.Arguments...) //nolint:noctx // closeOrKill ends it
	command.Dir = o.Directory + string(os.PathSeparator) + proc.version.name
	command.Env = o.Environment
	apart(command)
	err := proc.pipes.connect(command)
	if err == nil {
		err = command.Start()
	}
	proc.pipes.closeTheirs()
	if err != nil {
		proc.pipes.close()
		return err
	}
	proc.command = command
	return nil
}

// hello gets the declaration of the process.
func (proc *process) hello(ctx context.Context) error {
	o := proc.pool.options
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("no answer within %s: does the program call child.Serve?", o.StartTimeout))
	defer cancel()
	defer context.AfterFunc(proc.pool.ctx, cancel)()
	greeting := wire.Greeting{
		Protocol: wire.Protocol, Version: proc.version.name, Domain: o.KeyDomain, FieldManager: o.FieldManager, NameObjects: o.NameObjects, Level: int(levelOf(o.Logger)),
		DefaultNamespace: o.DefaultNamespace,
	}
	var declaration wire.Declaration
	if err := proc.peer.Call(ctx, wire.Hello, greeting, &declaration); err != nil {
		return err
	}
	if declaration.Protocol != wire.Protocol {
		return fmt.Errorf("it has protocol %d, and this manager has protocol %d: update the older of the two", declaration.Protocol, wire.Protocol)
	}
	if err := declaration.Check(); err != nil {
		return err
	}
	proc.declaration = &declaration
	return proc.pool.fits(&declaration)
}

// levelOf returns the lowest of slog's levels that logger logs.
func levelOf(logger *slog.Logger) slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if logger.Enabled(context.Background(), level) { //nolint:forbidigo // the level is for all calls
			return level
		}
	}
	return slog.LevelError
}

// ending reports whether the process takes no more calls.
func (proc *process) ending() bool { return proc.stopped.Load() || isClosed(proc.peer.Done()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// because returns the error with which the process has ended if err is only ErrGone, and err otherwise.
func (proc *process) because(err error) error {
	if !errors.Is(err, wire.ErrGone) {
		return err
	}
	<-proc.ended // that doesn't take long
	return proc.err
}

// lastWords bounds the time for which the output of an exited process is still read, because another process may hold
// its streams open.
const lastWords = time.Second

// run serves the process until it has ended.
func (proc *process) run() {
	defer close(proc.over)
	var others sync.WaitGroup
	others.Go(func() { proc.log(proc.pipes.stderr) })
	others.Go(proc.end)
	var exit error
	others.Go(func() {
		exit = proc.command.Wait()
		kill(proc.command) // this also kills processes that it has started
		proc.pipes.expire(lastWords)
		close(proc.exited)
	})
	// Calls of the process are served until it ends, even when the pool is closed: if such a call failed, the process
	// would report an error of the resource.
	read := proc.peer.Run(context.WithoutCancel(proc.pool.ctx))
	if !isEnd(read) {
		proc.kill() // its output is invalid
	}
	others.Wait()
	proc.pipes.close()
	if proc.err = endOf(read, exit); proc.last.text() != "" {
		proc.err = fmt.Errorf("%w: %s", proc.err, proc.last.text())
	}
	close(proc.ended)
	<-proc.known
	proc.version.ended(proc)
}

// end stops the process when the connection has ended.
func (proc *process) end() {
	<-proc.peer.Done()
	proc.closeOrKill()
}

// stop ends the process and returns when it has ended.
func (proc *process) stop() {
	proc.stopped.Store(true)
	proc.closeOrKill()
	<-proc.over
}

// closeOrKill closes the standard input, which tells the process to exit, and kills the process if it doesn't exit in
// time.
func (proc *process) closeOrKill() {
	_ = proc.pipes.stdin.Close()
	timer := time.NewTimer(proc.pool.options.StopTimeout)
	defer timer.Stop()
	select {
	case <-proc.exited:
	case <-timer.C:
		proc.kill()
	}
}

// kill kills the process if it hasn't ended, with all processes that it has started.
func (proc *process) kill() {
	if !isClosed(proc.exited) {
		kill(proc.command)
	}
}

// isEnd reports whether a stream has come to its end.
func isEnd(read error) bool {
	return errors.Is(read, io.EOF) || errors.Is(read, io.ErrUnexpectedEOF) || errors.Is(read, os.ErrDeadlineExceeded)
}

// endOf returns how a process has ended.
func endOf(read, exit error) error {
	switch {
	case !isEnd(read):
		return fmt.Errorf("invalid data on the standard output of its process: %w", read)
	case exit != nil:
		// Keep only the text. Otherwise this program could end with the exit code of the *exec.ExitError.
		return errors.New("its process has ended: " + exit.Error())
	}
	return errors.New("its process has ended")
}
