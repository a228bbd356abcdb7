package versions

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// life is one process of a version, from its start to its end.
type life struct {
	version *version
	pool    *Pool
	process *exec.Cmd
	pipes   pipes
	peer    *wire.Peer
	started time.Time
	// said is what it has said of itself.
	said *wire.Declaration
	// stopped tells that it was told to end.
	stopped atomic.Bool
	// known is closed when its version knows of it, or nobody wants to; exited when the process has, ended when all that it said has been
	// heard, and over when its version knows of that, too. err says how it ended, and what it said last, which mostly is the reason.
	known, exited, ended, over chan struct{}
	err                        error
	// externals are the targets that its external sources are run for.
	externals sync.Map
	// patience is about how soon it answers what it makes of events.
	patience patience
	// last are the last lines that it wrote to its standard error.
	last lastLines
}

// begin starts the process of a version and hears what it controls.
func (p *Pool) begin(ctx context.Context, v *version) (*life, error) {
	l := &life{
		version: v, pool: p, started: time.Now(),
		known: make(chan struct{}), exited: make(chan struct{}), ended: make(chan struct{}), over: make(chan struct{}),
	}
	if err := l.launch(); err != nil {
		return nil, fmt.Errorf("its program can't be started: %w", err)
	}
	l.peer = wire.NewPeer(l.pipes.stdout, l.pipes.stdin, l.handle)
	p.running.Go(l.run) // the pool's end waits for the start
	if err := l.hello(ctx); err != nil {
		close(l.known)
		l.stop()
		return nil, l.because(err)
	}
	return l, nil
}

// launch starts the program.
func (l *life) launch() error {
	o := l.pool.options
	command := exec.Command(o.program(l.version.name), o.Arguments...) //nolint:noctx // it is told to end before it is killed
	command.Dir = o.Directory + string(os.PathSeparator) + l.version.name
	command.Env = o.Environment
	apart(command)
	err := l.pipes.connect(command)
	if err == nil {
		err = command.Start()
	}
	l.pipes.closeTheirs()
	if err != nil {
		l.pipes.close()
		return err
	}
	l.process = command
	return nil
}

// hello hears what the process controls.
func (l *life) hello(ctx context.Context) error {
	o := l.pool.options
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("it hasn't answered within %s: is its program made to be a version?", o.StartTimeout))
	defer cancel()
	defer context.AfterFunc(l.pool.ctx, cancel)()
	greeting := wire.Greeting{
		Protocol: wire.Protocol, Version: l.version.name, Domain: o.KeyDomain, FieldManager: o.FieldManager, NameObjects: o.NameObjects, Level: int(levelOf(o.Logger)),
		DefaultNamespace: o.DefaultNamespace,
	}
	var said wire.Declaration
	if err := l.peer.Call(ctx, wire.Hello, greeting, &said); err != nil {
		return err
	}
	if said.Protocol != wire.Protocol {
		return fmt.Errorf("it speaks protocol %d, this manager %d: update the older one of them", said.Protocol, wire.Protocol)
	}
	if err := said.Check(); err != nil {
		return err
	}
	l.said = &said
	return l.pool.fits(&said)
}

// levelOf is the lowest of the usual levels that is logged.
func levelOf(logger *slog.Logger) slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if logger.Enabled(context.Background(), level) { //nolint:forbidigo // it is asked for all calls at once
			return level
		}
	}
	return slog.LevelError
}

// ending tells that nothing is to be asked of it any more.
func (l *life) ending() bool { return l.stopped.Load() || isClosed(l.peer.Done()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// because is err, or, where that says no more than that the process is gone, how it has ended.
func (l *life) because(err error) error {
	if !errors.Is(err, wire.ErrGone) {
		return err
	}
	<-l.ended // that doesn't take long
	return l.err
}
