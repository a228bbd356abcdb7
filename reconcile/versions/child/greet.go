package child

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// greeted is the state that the first call of the manager sets.
type greeted struct {
	ruled map[schema.GroupVersionKind]*ruled
	lines *lines
}

// ruled is a kind with its controller and Reconciler.
type ruled struct {
	controller reconcile.Controller
	reconciler *reconcile.Reconciler
}

// greet serves the first call of the manager: it returns what this version controls.
func (s *server) greet(g wire.Greeting) (*wire.Declaration, error) {
	s.greeting.Lock()
	defer s.greeting.Unlock()
	switch {
	case g.Protocol != wire.Protocol:
		return nil, fmt.Errorf("the manager has protocol %d, and this version has protocol %d: update the older of the two", g.Protocol, wire.Protocol)
	case s.greeted.Load() != nil:
		return nil, errors.New("hello was called already")
	}
	said := &greeted{ruled: map[schema.GroupVersionKind]*ruled{}, lines: &lines{peer: s.peer, level: slog.Level(g.Level)}}
	declaration := &wire.Declaration{Protocol: wire.Protocol, Release: s.release}
	for _, controller := range s.controllers {
		r, err := s.reconciler(g, controller, said.lines)
		if err != nil {
			return nil, err
		}
		if said.ruled[r.Kind()] != nil {
			return nil, fmt.Errorf("controller %T: the kind %s has a controller already", controller, r.Kind().Kind)
		}
		said.ruled[r.Kind()] = &ruled{controller, r}
		kind := declared(controller, r)
		for _, c := range r.Conditions() {
			kind.Conditions = append(kind.Conditions, wire.DeclaredCondition{
				Type: c.Type, Negative: c.Negative, Summarises: c.Summarises, Reset: c.Reset, UpdateTime: c.UpdateTime,
			})
		}
		declaration.Kinds = append(declaration.Kinds, kind)
	}
	s.greeted.Store(said)
	return declaration, nil
}

// reconciler returns a Reconciler that describes the resources of a controller and reads through the manager process.
func (s *server) reconciler(g wire.Greeting, controller reconcile.Controller, lines *lines) (*reconcile.Reconciler, error) {
	manager, err := deploy.NewManager(&store{peer: s.peer},
		deploy.FieldManager(g.FieldManager), deploy.KeyDomain(g.Domain), deploy.DefaultNamespace(g.DefaultNamespace), deploy.RetryFor(0))
	if err != nil {
		return nil, err
	}
	var options []reconcile.Option
	if s.options != nil {
		if options, err = s.options(controller, manager); err != nil {
			return nil, err
		}
	}
	// Only the manager knows all versions. The child only knows the version for which the manager started it.
	options = append(options, reconcile.Logger(slog.New(lines)), reconcile.WithWatcher(&watcher{s.peer}), reconcile.SupportedVersions(g.Version))
	if g.NameObjects {
		options = append(options, reconcile.NameObjects())
	}
	return reconcile.New(controller, manager, options...)
}

// declared returns the declaration of a controller.
func declared(c reconcile.Controller, r *reconcile.Reconciler) wire.ControlledKind {
	d := wire.ControlledKind{Kind: wire.NewKind(c.Kind()), Hooks: hooksOf(c)}
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

// kind returns a kind with its controller.
func (s *server) kind(k wire.Kind) (*ruled, error) {
	said := s.greeted.Load()
	if said == nil {
		return nil, errors.New("the manager hasn't called hello, which has to come first")
	}
	found, ok := said.ruled[k.GVK()]
	if !ok {
		return nil, fmt.Errorf("this version has no controller for the kind %s", k.Name)
	}
	return found, nil
}
