package watch

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
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
// gone or has left the view, even if filters refuse the event, and by Release for each known object of the kind. A
// reconcile of the object may still run, or be about to start, except during Release. Forget must not block.
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
	// options are the engine's, with those of Control. overtime is the cause of the end of a reconcile that took too
	// long.
	options  options
	backoff  *backoff
	overtime error
	// open: the objects are watched, or about to be. Before that, events of other kinds are ignored, because all
	// objects will be listed.
	open atomic.Bool
	// work is the context of the reconciles, and watch watches the kind. cancel ends both. They are set when the engine
	// runs.
	work          context.Context
	watch, cancel func()
	// unwatched is closed when the kind and its sources aren't watched any more, and idle when a released kind isn't
	// reconciled any more.
	unwatched, idle chan struct{}
	// releasing is held by Release.
	releasing sync.Mutex

	mu sync.Mutex
	// busy counts the running reconciles. released: no further reconcile begins.
	busy     int
	released bool
	// admitted: external sources may bring objects to reconcile. early are the keys that they brought before.
	admitted bool
	early    []deploy.Ref
}

// Control registers reconciler for the objects of kind. A kind has one reconciler for all its versions. It is an error
// if the reconciler's Sources are invalid. While the engine runs, Control begins to watch the kind and returns without
// waiting for it.
//
// The options apply to this kind only: Timeout, Backoff, Period and Filter replace the engine's, Around adds to the
// engine's, and Workers sets how many objects of the kind are reconciled concurrently, out of the engine's Workers. The other
// options are the engine's alone and refused.
func (e *Engine) Control(kind schema.GroupVersionKind, reconciler Reconciler, opts ...Option) error {
	if kind.Kind == "" || kind.Version == "" {
		return fmt.Errorf("kind %q: needs a version and a kind", kind)
	}
	if reconciler == nil {
		return fmt.Errorf("%s: nil reconciler", kind.Kind)
	}
	c, err := e.newControlled(kind, reconciler, opts)
	if err != nil {
		return fmt.Errorf("%s: %w", kind.Kind, err)
	}
	e.changing.Lock()
	defer e.changing.Unlock()
	if e.of(kind) != nil {
		return fmt.Errorf("%s: has a reconciler already", kind)
	}
	if e.phase == ending {
		return fmt.Errorf("%s: %w", kind.Kind, errStopped)
	}
	if e.phase == running {
		e.prepare(c)
	}
	e.put(kind.GroupKind(), c)
	if limit := c.limit(e.options); c.rules.IndexesOwn() {
		e.queue.Limit(kind.GroupKind(), 0) // until the index is complete
	} else if limit < math.MaxInt {
		e.queue.Limit(kind.GroupKind(), limit)
	}
	if e.phase == running {
		e.watchers.Go(c.watch)
	}
	return nil
}

func (e *Engine) newControlled(kind schema.GroupVersionKind, reconciler Reconciler, opts []Option) (*controlled, error) {
	o, err := e.options.forKind(opts)
	if err != nil {
		return nil, err
	}
	sources, err := source.Of(reconciler)
	if err != nil {
		return nil, err
	}
	if sources.When == nil {
		sources.When = o.filter
	}
	hooks, err := trigger.NewHooks(kind, reconciler, e.options.logger)
	if err != nil {
		return nil, err
	}
	called := reconciler
	for _, around := range slices.Backward(o.around) {
		called = around(called)
	}
	return &controlled{
		Reconciler: reconciler, called: called, kind: kind, hooks: hooks,
		options: o, backoff: newBackoff(o.retry, o.limit),
		overtime:  fmt.Errorf("the reconcile took longer than %s: %w", o.timeout, context.DeadlineExceeded),
		rules:     trigger.NewRules(kind, sources, o.domain, o.logger),
		unwatched: make(chan struct{}), idle: make(chan struct{}),
	}, nil
}

// Controls reports whether a kind, in any version, has a reconciler.
func (e *Engine) Controls(kind schema.GroupVersionKind) bool { return e.of(kind) != nil }

// limit returns how many objects of the kind may be reconciled concurrently.
func (c *controlled) limit(engine options) int {
	if c.options.workers == engine.workers {
		return math.MaxInt
	}
	return c.options.workers
}

// of returns the controlled kind of any version of kind, or nil.
func (e *Engine) of(kind schema.GroupVersionKind) *controlled {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.controlled[kind.GroupKind()]
}

// put sets what controls a kind, nil for nothing.
func (e *Engine) put(kind schema.GroupKind, c *controlled) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.controlled[kind] = c; c == nil {
		delete(e.controlled, kind)
	}
}

// all returns the controlled kinds, in no order.
func (e *Engine) all() []*controlled {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return slices.Collect(maps.Values(e.controlled))
}
