package versions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// life is one process of a version, from its start to its end.
type life struct {
	version *version
	pool    *Pool
	peer    *wire.Peer
	process *exec.Cmd
	stdin   io.Closer
	said    *wire.Declaration
	// stopped tells that it was to end. ended is closed when it has.
	stopped atomic.Bool
	ended   chan struct{}
	// err is how it ended.
	err error
	// externals are the targets that its external sources have been run for.
	externals sync.Map
	// last are the last lines that it wrote to its standard error.
	last lastLines
}

// begin starts the process of a version and hears what it controls.
func (p *Pool) begin(ctx context.Context, v *version) (*life, error) {
	l := &life{version: v, pool: p, ended: make(chan struct{})}
	command := exec.Command(p.options.program(v.name), p.options.Arguments...)
	command.Dir = p.options.Directory + string(os.PathSeparator) + v.name
	command.Env = p.options.Environment
	apart(command)
	stdin, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := p.launch(command); err != nil {
		return nil, fmt.Errorf("its program can't be started: %w", err)
	}
	l.process, l.stdin = command, stdin
	l.peer = wire.NewPeer(stdout, stdin, l.handle)
	started := time.Now()
	p.running.Go(func() { l.run(started, stderr) })
	if err := l.hello(ctx); err != nil {
		l.stop()
		return nil, l.because(err)
	}
	for kind, target := range p.activeTargets() {
		l.external(kind, target)
	}
	return l, nil
}

// launch starts a program, unless the pool is closed.
func (p *Pool) launch(command *exec.Cmd) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("the pool is closed")
	}
	return command.Start()
}

// run hears the process until it ends.
func (l *life) run(started time.Time, stderr io.Reader) {
	var reading sync.WaitGroup
	reading.Go(func() { l.log(stderr) })
	err := l.peer.Run(l.pool.ctx)
	patience := l.pool.options.StopTimeout
	if !errors.Is(err, io.EOF) {
		patience = 0 // what can't be understood is of no use
	}
	defer time.AfterFunc(patience, func() { kill(l.process) }).Stop()
	reading.Wait()
	if ended := l.process.Wait(); ended != nil {
		err = ended
	} else if errors.Is(err, io.EOF) {
		err = errors.New("its process has ended")
	}
	l.err = err
	close(l.ended)
	l.version.ended(l, started, l.because(err))
}

// hello hears what the process controls.
func (l *life) hello(ctx context.Context) error {
	o := l.pool.options
	ctx, cancel := context.WithTimeoutCause(ctx, o.StartTimeout, fmt.Errorf("it hasn't answered within %s: is its program made to be a version?", o.StartTimeout))
	defer cancel()
	var said wire.Declaration
	greeting := wire.Greeting{
		Protocol: wire.Protocol, Version: l.version.name, Domain: o.KeyDomain, FieldManager: o.FieldManager, NameObjects: o.NameObjects, Level: int(o.level()),
	}
	if err := l.peer.Call(ctx, wire.Hello, greeting, &said); err != nil {
		return err
	}
	if said.Protocol != wire.Protocol {
		return fmt.Errorf("it speaks protocol %d, this manager %d: update the older one of them", said.Protocol, wire.Protocol)
	}
	l.said = &said
	return l.pool.fits(l)
}

// level is the lowest level that is logged.
func (o Options) level() slog.Level {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn} {
		if o.Logger.Enabled(context.Background(), level) {
			return level
		}
	}
	return slog.LevelError
}

// ruled is what it said of a kind, nil if it doesn't control it.
func (l *life) ruled(kind schema.GroupVersionKind) *wire.Ruled {
	for i := range l.said.Kinds {
		if l.said.Kinds[i].Kind.GVK() == kind {
			return &l.said.Kinds[i]
		}
	}
	return nil
}

func (l *life) gone() bool {
	select {
	case <-l.peer.Done():
		return true
	default:
		return false
	}
}

// because is err with what the process said last if it has ended, which mostly is the reason.
func (l *life) because(err error) error {
	if !errors.Is(err, wire.ErrGone) && !l.isOver() {
		return err
	}
	<-l.ended
	if last := l.last.text(); last != "" {
		return fmt.Errorf("its process: %w: %s", l.err, last)
	}
	return fmt.Errorf("its process: %w", l.err)
}

func (l *life) isOver() bool {
	select {
	case <-l.ended:
		return true
	default:
		return false
	}
}

// stop tells the process to end, and kills it when it doesn't in time.
func (l *life) stop() {
	l.stopped.Store(true)
	_ = l.stdin.Close()
	timer := time.NewTimer(l.pool.options.StopTimeout)
	defer timer.Stop()
	select {
	case <-l.ended:
		return
	case <-timer.C:
	}
	kill(l.process)
	<-l.ended
}

// longestLine is how much of a line on the standard error is kept.
const longestLine = 4 << 10

// log passes on what the process writes to its standard error.
func (l *life) log(stderr io.Reader) {
	in := bufio.NewReaderSize(stderr, longestLine)
	for cut := false; ; {
		line, more, err := in.ReadLine()
		if len(line) > 0 && !cut {
			text := strings.ToValidUTF8(string(line), "\ufffd")
			l.last.add(text)
			l.pool.options.Logger.Info(text, "version", l.version.name, "stream", "stderr")
		}
		if cut = more; err != nil {
			return
		}
	}
}

// lastLines are the last few lines of something.
type lastLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *lastLines) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	const kept = 5
	if l.lines = append(l.lines, line); len(l.lines) > kept {
		l.lines = l.lines[1:]
	}
}

func (l *lastLines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "; ")
}
