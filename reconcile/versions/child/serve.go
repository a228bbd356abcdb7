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
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
)

// Option sets what is rarely set.
type Option func(*server)

// Release names the version that the program says it is, for messages.
func Release(version string) Option { return func(s *server) { s.release = version } }

// Streams sets where the manager is heard and answered; default the standard streams. When ctx of Serve ends in is closed, if it can be.
func Streams(in io.Reader, out io.Writer) Option {
	return func(s *server) { s.in, s.out = in, out }
}

// With sets options of the Reconciler of each controller: reconcile.WithPatches, say, with what reads through the manager given. What the
// manager decides, such as pauses and the status, is of no effect here.
func With(options func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)) Option {
	return func(s *server) { s.options = options }
}

// lastMoments is how long what is under way may take to end with Serve.
const lastMoments = 2 * time.Second

// server answers one manager.
type server struct {
	controllers []reconcile.Controller
	options     func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)
	release     string
	in          io.Reader
	out         io.Writer

	peer *wire.Peer
	// instance tells the digests of this process from those of others.
	instance string
	// greeting guards greeted, what there is since the manager has said hello.
	greeting sync.Mutex
	greeted  atomic.Pointer[greeted]
	sessions sessions
}

// Serve answers a manager until that has no more to ask, or ctx ends; then it returns nil. Other errors say that the manager can't be
// understood, or that a controller can't be served. What is under way then is told to end, and left to itself if it doesn't within two seconds.
//
// With the standard streams it takes the process for its own: what is printed goes to the standard error as long as it runs, and garbage is
// collected at four times what is kept, unless GOGC or GOMEMLIMIT are set.
func Serve(ctx context.Context, controllers []reconcile.Controller, options ...Option) error {
	s := &server{controllers: controllers, instance: rand.Text()}
	for _, option := range options {
		option(s)
	}
	if len(controllers) == 0 {
		return errors.New("serve: no controller is given")
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
			_ = closer.Close() // what is under way ends with it, and isn't answered
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

// handle answers one call.
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
		return wire.Answer(body, func(b wire.Hooked) (wire.HookAnswer, error) { return s.hook(ctx, b) })
	case wire.When:
		return wire.Answer(body, s.when)
	case wire.Keys:
		return wire.Answer(body, s.keys)
	case wire.External:
		return wire.Answer(body, func(b wire.Kind) (any, error) { return nil, s.external(ctx, b) })
	case wire.Release:
		return wire.Answer(body, func(id string) (any, error) { s.sessions.release(id); return nil, nil })
	}
	return nil, fmt.Errorf("%q: there is no such call: the manager is newer than this version", method)
}

// garbagePercent is how much garbage there may be beside what is kept: a version makes much and keeps little, since all of a session goes with it.
const garbagePercent = 400

// collectLess has the process collect its garbage less often, unless its environment says how.
func collectLess() (restore func()) {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return func() {}
	}
	before := debug.SetGCPercent(garbagePercent)
	return func() { debug.SetGCPercent(before) }
}
