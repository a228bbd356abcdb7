package child

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// Option is an option of Serve. The last one of a kind wins; nil is ignored.
type Option func(*server)

// Streams sets the streams from and to the manager; default the standard streams. If in is an io.Closer, it is closed
// when the context of Serve ends.
func Streams(in io.Reader, out io.Writer) Option {
	return func(s *server) { s.in, s.out = in, out }
}

// With sets options of the Reconciler of each controller, such as reconcile.WithPatches. The deploy.Manager that is
// passed to the function reads through the manager process. Options for tasks of the manager process, such as pauses
// and the status, have no effect here.
func With(options func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)) Option {
	return func(s *server) { s.options = options }
}

// lastMoments bounds the time for which Serve waits for running calls at its end.
const lastMoments = 2 * time.Second

// server serves one manager.
type server struct {
	controllers []reconcile.Controller
	options     func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)
	release     string
	in          io.Reader
	out         io.Writer

	peer *wire.Peer
	// instance distinguishes the digests of this process from the digests of other processes.
	instance string
	// greeting is held while the first call of the manager sets greeted.
	greeting sync.Mutex
	greeted  atomic.Pointer[greeted]
	sessions sessions
}

// Serve serves a manager until the manager closes the connection, or ctx ends; then it returns nil. release is the
// release of the program, for messages and warnings of the manager; empty if it isn't known. Serve returns an error if
// the manager sends invalid data, or if a controller can't be served. Running calls are cancelled at the end; Serve
// waits for them for at most two seconds.
//
// With the standard streams Serve changes the process while it runs: output to the standard output goes to the standard
// error, and the garbage collector runs less often (GOGC=400), unless GOGC or GOMEMLIMIT is set.
func Serve(ctx context.Context, release string, controllers []reconcile.Controller, options ...Option) error {
	s := &server{controllers: controllers, release: release, instance: rand.Text()}
	optional.Apply(s, options)
	if len(controllers) == 0 {
		return errors.New("serve: no controllers")
	}
	if s.in == nil || s.out == nil {
		restore, err := s.standardStreams()
		if err != nil {
			return fmt.Errorf("serve: the standard streams: %w", err)
		}
		defer restore()
		defer collectLess()()
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	s.peer = wire.NewPeer(s.in, s.out, s.handle)
	ended := make(chan error, 1)
	go func() {
		err := s.peer.Run(serving)
		s.sessions.releaseAll()
		ended <- err
	}()
	select {
	case <-ctx.Done():
		if closer, ok := s.in.(io.Closer); ok {
			_ = closer.Close() // closing in ends the connection, which cancels calls under way
		}
	case <-s.peer.Done():
	}
	late := time.NewTimer(lastMoments)
	defer late.Stop()
	select {
	case err := <-ended:
		if !errors.Is(err, io.EOF) && ctx.Err() == nil {
			return fmt.Errorf("serve: %w", err)
		}
	case <-late.C:
	}
	return nil
}

// handle serves one call.
func (s *server) handle(ctx context.Context, method string, body wire.Raw) (any, error) {
	switch method {
	case wire.Hello:
		return wire.Answer(body, s.greet)
	case wire.Setup:
		return wire.Answer(body, func(b wire.Session) (*wire.Described, error) { return s.setup(ctx, b) })
	case wire.Render:
		return wire.Answer(body, func(b wire.Part) (*wire.Objects, error) { return s.render(ctx, b) })
	case wire.Content:
		return wire.Answer(body, s.content)
	case wire.Gate:
		return wire.Answer(body, func(b wire.Part) (bool, error) { return s.gate(ctx, b) })
	case wire.Judge:
		return wire.Answer(body, func(b wire.Part) (any, error) { return s.judge(ctx, b) })
	case wire.Hook:
		return wire.Answer(body, func(b wire.HookCall) (wire.HookAnswer, error) { return s.hook(ctx, b) })
	case wire.When:
		return wire.Answer(body, s.when)
	case wire.Keys:
		return wire.Answer(body, s.keys)
	case wire.External:
		return wire.Answer(body, func(b wire.Kind) (any, error) { return nil, s.external(ctx, b) })
	case wire.Release:
		return wire.Answer(body, func(id string) (any, error) { s.sessions.release(id); return nil, nil })
	}
	return nil, fmt.Errorf("unknown method %q: the manager is newer than this version", method)
}

// garbagePercent is the value of GOGC: a version allocates much and keeps little, since the memory of a session is
// freed when the session ends.
const garbagePercent = 400

// collectLess makes the garbage collector run less often, unless the environment sets it.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbagePercent)
	return func() { debug.SetGCPercent(before) }
}
