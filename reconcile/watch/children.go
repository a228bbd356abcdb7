package watch

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Own watches the kind child. From then on, an event of a child object causes a reconcile of its owners of the kind
// owner. It returns nil once the existing children are known. If they can't be read, it returns an error, and the next
// call tries again. Call it while the engine runs, before the first child of a kind is written. If the owner's Sources
// declare the kind child, Own uses the watch and the filter of that declaration, and only waits until the children are
// known.
func (e *Engine) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	var rules *trigger.Rules
	if c := e.of(owner); c != nil {
		owner, rules = c.kind, c.rules
	}
	return e.subscribe(ctx, trigger.Subject{Owner: owner, Child: child}, e.childHandler(owner, rules, child))
}

// childHandler returns a handler for events of children. It queues the children's owners of the kind owner, except for
// events that rules refuse or that echoes holds back.
func (e *Engine) childHandler(owner schema.GroupVersionKind, rules *trigger.Rules, child schema.GroupVersionKind) func(deploy.Event) {
	return func(event deploy.Event) {
		if rules != nil && !rules.CountsOwned(child, event) {
			return
		}
		for _, key := range e.owners.Of(owner, event) {
			if !e.echoes.HoldsBack(key, trigger.Owned, event) {
				e.brought(key, request.Child, event)
				e.queue.Add(key, request.Child)
			}
		}
	}
}

// subscribe watches a kind and calls handle for its events. It returns when the existing objects are known. Further
// calls for the same kinds share that watch and its handler; their handle isn't used.
func (e *Engine) subscribe(ctx context.Context, kinds trigger.Subject, handle func(deploy.Event)) error {
	kind := kinds.Watched()
	w := &watcher{apart: true, look: func(event deploy.Event, _ bool) bool {
		handle(event)
		return false
	}}
	watched, err := e.children.subscribe(ctx, kinds, func(life context.Context) (deploy.Subscription, error) {
		return e.view.Subscribe(life, kind, func(event deploy.Event) { e.take(w, event, false) })
	})
	if err != nil {
		err = fmt.Errorf("watch %s: %w", kind.Kind, err)
	} else {
		err = watched.wait(ctx, e.inbox)
	}
	switch {
	case ctx.Err() != nil:
	case err != nil && kinds.Owner.Empty():
		// A kind that can't be followed is a matter of the reconcile that gets the error: nobody else watches it.
	default:
		e.kinds.set(kinds, err)
	}
	return err
}

// children are the subscriptions to kinds that aren't controlled. They end with the engine, or when their kind is
// released.
type children struct {
	mu    sync.Mutex
	work  context.Context
	kinds map[trigger.Subject]*childKind
}

// childKind is the watch of one subject: of a kind of children for one kind of owners, for example.
type childKind struct {
	// turn is held by the caller that subscribes; other callers wait for it until their contexts end.
	turn         chan struct{}
	subscription deploy.Subscription
	// end ends the subscription.
	end context.CancelFunc
	// synced: the objects that existed at the beginning are known.
	synced atomic.Bool
}

// wait waits until the objects that existed at the beginning are known.
func (k *childKind) wait(ctx context.Context, events *inbox) error {
	if k.synced.Load() {
		return nil
	}
	err := k.subscription.Synced(ctx)
	if err == nil {
		err = events.drain(ctx)
	}
	k.synced.Store(err == nil)
	return err
}

func newChildren() *children { return &children{kinds: map[trigger.Subject]*childKind{}} }

func (c *children) open(work context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = work
}

// subscribe returns a kind with its subscription, which start makes if there is none yet. start may send requests; if
// ctx ends meanwhile, so does the context of start. A subscription lasts until the engine stops or its kind is
// released.
func (c *children) subscribe(ctx context.Context, kinds trigger.Subject, start func(context.Context) (deploy.Subscription, error)) (*childKind, error) {
	kind, work, err := c.of(kinds)
	if err != nil {
		return nil, err
	}
	select {
	case kind.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-kind.turn }()
	if kind.subscription != nil {
		return kind, nil
	}
	life, end := context.WithCancel(work)
	withdraw := context.AfterFunc(ctx, end)
	subscription, err := start(life)
	if !withdraw() {
		err = context.Cause(ctx)
	}
	if err != nil {
		end()
		return nil, err
	}
	kind.subscription, kind.end = subscription, end
	return kind, nil
}

// end ends the subscriptions to the subjects for which match returns true. Nobody may subscribe to one of them
// meanwhile.
func (c *children) end(match func(trigger.Subject) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.kinds, func(s trigger.Subject, kind *childKind) bool {
		if !match(s) {
			return false
		}
		if kind.end != nil {
			kind.end()
		}
		return true
	})
}

func (c *children) of(kinds trigger.Subject) (*childKind, context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.work == nil:
		return nil, nil, errNotRunning
	case c.work.Err() != nil:
		return nil, nil, errStopped
	}
	kind, ok := c.kinds[kinds]
	if !ok {
		kind = &childKind{turn: make(chan struct{}, 1)}
		c.kinds[kinds] = kind
	}
	return kind, c.work, nil
}

// Follow watches the object ref. From then on, an event of ref causes a reconcile of key. ref is an object that key
// doesn't own, such as a Secret that the spec of key names. When a reconcile of key succeeds, key stops following the
// objects for which that reconcile didn't call Follow. Follow returns nil once the objects of the kind of ref are
// known, and an error if they can't be read. Call it in a reconcile of key, before the object is read.
func (e *Engine) Follow(ctx context.Context, key deploy.Ref, ref deploy.Ref) error {
	return e.follow(ctx, key, ref, func(key deploy.Ref) { e.followers.Add(key, ref) })
}

// FollowAll is Follow for the objects of a kind that List of the view returns for namespace ("": all namespaces) and
// selector (nil: all), now or later. An event of an object causes a reconcile of key if the selector matches the object
// before or after it. Call it in a reconcile of key, before the objects are listed.
func (e *Engine) FollowAll(ctx context.Context, key deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	return e.follow(ctx, key, deploy.Ref{Kind: kind, Namespace: namespace}, func(key deploy.Ref) {
		e.followers.AddAll(key, kind, namespace, selector)
	})
}

func (e *Engine) follow(ctx context.Context, key, what deploy.Ref, add func(key deploy.Ref)) error {
	controlled := e.of(key.Kind)
	if controlled == nil {
		return fmt.Errorf("follow %s for %s: the engine has no reconciler for the kind %s", what, key, key.Kind.Kind)
	}
	key.Kind = controlled.kind
	err := e.subscribe(ctx, trigger.Subject{Child: what.Kind}, func(event deploy.Event) {
		followers := slices.DeleteFunc(e.followers.Of(event), func(key deploy.Ref) bool {
			return e.echoes.HoldsBack(key, trigger.Followed, event)
		})
		e.bringBy(request.Followed, followers, event)
	})
	if err == nil {
		// The running reconcile is about to read the object, so the initial list must not cause another reconcile. That
		// is why key follows it only from now on.
		add(key)
	}
	return err
}
