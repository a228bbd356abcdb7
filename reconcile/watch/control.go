package watch

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reconciler brings one object to its wanted state. It is called for several objects at once, but for one object only
// one call runs at a time. After an error the object is retried with backoff, unless the error says otherwise, see
// package request; a panic counts as an error. The object may be gone. A Reconciler that doesn't return when its
// context ends delays the end of the engine.
//
// A Reconciler may also implement Observer, Forgetter, and source.Provider, which declares what causes reconciles.
type Reconciler interface {
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// Observer may be implemented by a Reconciler that has to distinguish creations from changes. Observe is called for
// each event of an object of the kind, with the object before and after it, one event after the other, before any
// filter and before the reconcile. It must not block, since all other events wait for it, nor change the objects. The
// first panic is logged. Events don't survive a restart: existing objects are then Added, and deletions in the meantime
// are missed.
type Observer interface {
	Observe(event deploy.Event)
}

// Forgetter may be implemented by a Reconciler that keeps state of objects. Forget is called for each object that is
// gone or has left the view, even if filters refuse the event. A reconcile of the object may still run, or be about to
// start. Forget must not block.
type Forgetter interface {
	Forget(key deploy.Ref)
}

// controlled is a kind with its reconciler.
type controlled struct {
	Reconciler
	// called is the Reconciler, wrapped by the options Around.
	called Reconciler
	kind   schema.GroupVersionKind
	rules  *trigger.Rules
	hooks  *trigger.Hooks
	// open: the objects are watched, or about to be. Before that, events of other kinds are ignored, because all
	// objects will be listed.
	open atomic.Bool
}

// Control registers reconciler for the objects of kind, before Run. A kind has one reconciler for all its versions. It
// is an error if the reconciler's Sources are invalid.
func (e *Engine) Control(kind schema.GroupVersionKind, reconciler Reconciler) error {
	if kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("kind %q: needs a version and a kind", kind)
	}
	if reconciler == nil {
		return fmt.Errorf("%s: nil reconciler", kind.Kind)
	}
	c, err := e.newControlled(kind, reconciler)
	if err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.running {
		return fmt.Errorf("%s: the engine runs already: add its reconciler before Run", kind.Kind)
	}
	if e.controlled[kind.GroupKind()] != nil {
		return fmt.Errorf("%s: has a reconciler already", kind)
	}
	e.controlled[kind.GroupKind()] = c
	return nil
}

func (e *Engine) newControlled(kind schema.GroupVersionKind, reconciler Reconciler) (*controlled, error) {
	sources, err := source.Of(reconciler)
	if err != nil {
		return nil, err
	}
	hooks, err := trigger.NewHooks(kind, reconciler, e.options.logger)
	if err != nil {
		return nil, err
	}
	called := reconciler
	for _, around := range slices.Backward(e.options.around) {
		called = around(called)
	}
	return &controlled{
		Reconciler: reconciler, called: called, kind: kind, hooks: hooks,
		rules: trigger.NewRules(kind, sources, e.options.domain, e.options.logger),
	}, nil
}

// of returns the controlled kind of any version of kind, or nil.
func (e *Engine) of(kind schema.GroupVersionKind) *controlled {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.controlled[kind.GroupKind()]
}
