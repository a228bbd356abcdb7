package watch

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Reconciler brings one object to its wanted state. It is called for several objects at
// once, never twice at once for the same one. An error is tried again with backoff, see
// package request for those that say otherwise; a panic counts as one. The object may be
// gone. A Reconciler that doesn't return when its context ends holds up the end of the engine.
//
// It may be a source.Provider too, which says what brings objects to reconcile, an Observer and a Forgetter.
type Reconciler interface {
	Reconcile(ctx context.Context, req request.Request) (request.Result, error)
}

// Observer is what a Reconciler may be beside, for styles that tell a creation from a change: each event of an object of
// the kind, with the object before and after it, before any filter and before the reconcile that it brings. It is told
// one event after the other. It must not block, since all other events wait for it, or change the objects. A panic is
// logged once. Events are no memory: after a restart what exists is Added, and what went meanwhile isn't told.
type Observer interface {
	Observe(event deploy.Event)
}

// Forgetter is what a Reconciler may be beside that remembers something of objects: Forget is told of each that is gone or
// has left the view, whatever a filter says. A reconcile of it may still run, or be about to. It must not block.
type Forgetter interface {
	Forget(key deploy.Ref)
}

// controlled is one kind and who reconciles it.
type controlled struct {
	Reconciler
	// called is what does a reconcile: the Reconciler with all around it.
	called Reconciler
	kind   schema.GroupVersionKind
	rules  *trigger.Rules
	// observer and forgetter are nil if there are none.
	observer  Observer
	forgetter Forgetter
	panicked  sync.Once
	// open says that the objects are watched, or about to be: what happened to others before concerns objects that
	// will be listed.
	open atomic.Bool
}

// Control has reconciler called for the objects of kind. A kind has one reconciler, whatever
// its versions, given before Run (spec: watch 1, mistake 18). Its Sources are asked for here; what is wrong with them is
// an error.
func (e *Engine) Control(kind schema.GroupVersionKind, reconciler Reconciler) error {
	if kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("kind %q: needs a version and a kind", kind)
	}
	if reconciler == nil {
		return fmt.Errorf("%s: its reconciler is nil", kind.Kind)
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
	for known := range e.controlled {
		if known.GroupKind() == kind.GroupKind() {
			return fmt.Errorf("%s: has a reconciler already", kind)
		}
	}
	e.controlled[kind] = c
	return nil
}

func (e *Engine) newControlled(kind schema.GroupVersionKind, reconciler Reconciler) (*controlled, error) {
	sources, err := source.Of(reconciler)
	if err != nil {
		return nil, err
	}
	if err := optional.Check(reconciler, reflect.TypeFor[Observer](), reflect.TypeFor[Forgetter]()); err != nil {
		return nil, err
	}
	observer, _ := reconciler.(Observer)
	forgetter, _ := reconciler.(Forgetter)
	called := reconciler
	for _, around := range slices.Backward(e.options.around) {
		called = around(called)
	}
	return &controlled{
		Reconciler: reconciler, called: called, kind: kind, observer: observer, forgetter: forgetter,
		rules: trigger.NewRules(kind, sources, e.options.domain, e.options.logger),
	}, nil
}

// of returns what is known of a kind that is controlled, whatever the version, or nil.
func (e *Engine) of(kind schema.GroupVersionKind) *controlled {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c, ok := e.controlled[kind]; ok {
		return c
	}
	for known, c := range e.controlled {
		if known.GroupKind() == kind.GroupKind() {
			return c
		}
	}
	return nil
}

// tell has the observer know of an event.
func (c *controlled) tell(event deploy.Event, logger *slog.Logger) {
	if c.observer == nil {
		return
	}
	defer c.recovered("an observer panics", logger)
	c.observer.Observe(event)
}

// forget has the forgetter know that an object is gone or left.
func (c *controlled) forget(key deploy.Ref, logger *slog.Logger) {
	if c.forgetter == nil {
		return
	}
	defer c.recovered("forgetting an object panics", logger)
	c.forgetter.Forget(key)
}

// recovered says the first panic.
func (c *controlled) recovered(what string, logger *slog.Logger) {
	if value := recover(); value != nil {
		c.panicked.Do(func() { logger.Error(what, "kind", c.kind.Kind, "value", value) })
	}
}
