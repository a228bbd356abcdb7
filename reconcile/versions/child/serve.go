package child

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Option sets what is rarely set.
type Option func(*server)

// Release names the version that the program says it is, for messages.
func Release(version string) Option { return func(s *server) { s.release = version } }

// Streams sets where the manager is heard and answered; default the standard streams.
func Streams(in io.Reader, out io.Writer) Option {
	return func(s *server) { s.in, s.out = in, out }
}

// With sets options of the Reconciler of each controller: reconcile.WithPatches, say, with what reads through the manager given. What the
// manager decides, such as pauses and the status, is of no effect here.
func With(options func(of reconcile.Controller, manager *deploy.Manager) ([]reconcile.Option, error)) Option {
	return func(s *server) { s.options = options }
}

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
	ruled    map[schema.GroupVersionKind]*ruled
	sessions sessions
	logger   *slog.Logger
}

// ruled is one kind with its controller.
type ruled struct {
	controller reconcile.Controller
	reconciler *reconcile.Reconciler
}

// Serve answers a manager until that has no more to ask, or ctx ends; then it returns nil. Other errors say that the manager can't be
// understood, or that a controller can't be served.
func Serve(ctx context.Context, controllers []reconcile.Controller, options ...Option) error {
	s := &server{controllers: controllers, instance: rand.Text(), ruled: map[schema.GroupVersionKind]*ruled{}}
	for _, option := range options {
		option(s)
	}
	if len(controllers) == 0 {
		return errors.New("serve: no controller is given")
	}
	if s.in == nil {
		in, restore := standardStreams(s)
		defer restore()
		defer context.AfterFunc(ctx, func() { _ = in.Close() })()
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s.peer = wire.NewPeer(s.in, s.out, s.handle)
	ended := make(chan error, 1)
	go func() { ended <- s.peer.Run(ctx) }()
	select {
	case err := <-ended:
		if errors.Is(err, io.EOF) || ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
		if closer, ok := s.in.(io.Closer); ok {
			_ = closer.Close()
			<-ended
		}
		return nil
	}
}

// standardStreams takes the standard streams for the manager, and has what others print go to the standard error.
func standardStreams(s *server) (in *os.File, restore func()) {
	before := os.Stdout
	s.in, s.out = os.Stdin, before
	os.Stdout = os.Stderr
	return os.Stdin, func() { os.Stdout = before }
}

// greet takes what the manager says first, and tells what there is.
func (s *server) greet(g wire.Greeting) (*wire.Declaration, error) {
	if g.Protocol != wire.Protocol {
		return nil, fmt.Errorf("the manager speaks protocol %d, this version %d: update the older one of them", g.Protocol, wire.Protocol)
	}
	s.logger = slog.New(&lines{peer: s.peer, level: slog.Level(g.Level)})
	manager := deploy.NewManager(&store{peer: s.peer}, deploy.FieldManager(g.FieldManager), deploy.KeyDomain(g.Domain), deploy.RetryFor(0))
	own := []reconcile.Option{reconcile.Logger(s.logger), reconcile.WithWatcher(&watcher{s.peer}), reconcile.Events(events{s.peer})}
	if g.NameObjects {
		own = append(own, reconcile.NameObjects())
	}
	declaration := &wire.Declaration{Protocol: wire.Protocol, Release: s.release}
	for _, controller := range s.controllers {
		var options []reconcile.Option
		if s.options != nil {
			var err error
			if options, err = s.options(controller, manager); err != nil {
				return nil, err
			}
		}
		r, err := reconcile.New(controller, manager, append(options, own...)...)
		if err != nil {
			return nil, err
		}
		s.ruled[r.Kind()] = &ruled{controller, r}
		declaration.Kinds = append(declaration.Kinds, declared(controller, r))
	}
	return declaration, nil
}

// declared is what a manager has to know of a controller.
func declared(c reconcile.Controller, r *reconcile.Reconciler) wire.Ruled {
	d := wire.Ruled{Kind: wire.NewKind(c.Kind()), Hooks: hooksOf(c)}
	if scoper, ok := c.(reconcile.Scoper); ok {
		d.Scope = string(scoper.Scope())
	}
	sources := r.Sources()
	d.When, d.External = sources.When != nil, len(sources.External)
	for _, owned := range sources.Owned {
		d.Owned = append(d.Owned, wire.Source{Kind: wire.NewKind(owned.Kind), When: owned.When != nil})
	}
	for _, mapped := range sources.Mapped {
		d.Mapped = append(d.Mapped, wire.Source{Kind: wire.NewKind(mapped.Kind), When: mapped.When != nil})
	}
	return d
}
