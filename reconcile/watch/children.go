package watch

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Own has the events of child objects bring their owners of kind owner to reconcile. It
// returns when the children that exist are known, at once if they have been before, or with
// the reason why they can't be read; asked again it tries again. It is to be called before
// the first child of a kind is written, and while the engine runs. For kinds that the owner's Sources declare it
// merely waits for them; their filter counts.
func (e *Engine) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	var rules *trigger.Rules
	if c := e.of(owner); c != nil {
		owner, rules = c.kind, c.rules
	}
	return e.subscribe(ctx, ownership{owner: owner, child: child}, e.childHandler(owner, rules, child))
}

// childHandler brings the owners of a kind by events of their children, those that rules let pass.
func (e *Engine) childHandler(owner schema.GroupVersionKind, rules *trigger.Rules, child schema.GroupVersionKind) func(deploy.Event) {
	return func(event deploy.Event) {
		if rules == nil || rules.CountsOwned(child, event) {
			e.observeChild(owner, event)
		}
	}
}

func (e *Engine) observeChild(owner schema.GroupVersionKind, event deploy.Event) {
	for _, key := range e.owners.Of(owner, event) {
		if !e.echoes.keeps(key, event) {
			e.queue.Add(key, request.Child)
		}
	}
}

// subscribe has handle called for the events of a kind, from its first call on. It returns when the objects that exist
// are known.
func (e *Engine) subscribe(ctx context.Context, kinds ownership, handle func(deploy.Event)) error {
	kind := kinds.watched()
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
		err = watched.synced(ctx, e.inbox)
	}
	if ctx.Err() == nil {
		e.kinds.set(kinds, err)
	}
	return err
}

// children are the subscriptions to kinds that aren't controlled; they live as long as the engine works.
type children struct {
	mu    sync.Mutex
	work  context.Context
	kinds map[ownership]*childKind
}

// childKind is one kind that is watched for one reason.
type childKind struct {
	// turn is held by the one who subscribes; the others wait for it as long as they may.
	turn         chan struct{}
	subscription deploy.Subscription
	// settled: all that existed at the beginning has been looked at.
	settled atomic.Bool
}

// synced waits until the objects that existed are known.
func (k *childKind) synced(ctx context.Context, events *inbox) error {
	if k.settled.Load() {
		return nil
	}
	err := k.subscription.Synced(ctx)
	if err == nil {
		err = events.settle(ctx)
	}
	k.settled.Store(err == nil)
	return err
}

func newChildren() *children { return &children{kinds: map[ownership]*childKind{}} }

func (c *children) open(work context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = work
}

// subscribe returns kinds with their subscription, from start if there is none yet. That may ask
// the cluster: it ends with ctx, what it has started with the engine.
func (c *children) subscribe(ctx context.Context, kinds ownership, start func(context.Context) (deploy.Subscription, error)) (*childKind, error) {
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
	kind.subscription = subscription
	return kind, nil
}

func (c *children) of(kinds ownership) (*childKind, context.Context, error) {
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
