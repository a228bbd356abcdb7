package watch

import (
	"context"
	"fmt"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Own has the events of child objects bring their owners of kind owner to reconcile. It
// returns when the children that exist are known, at once if they have been before, or with
// the reason why they can't be read; asked again it tries again. It is to be called before
// the first child of a kind is written, and while the engine runs.
func (e *Engine) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	subscription, err := e.children.subscribe(ctx, ownership{owner, child}, func(life context.Context) (deploy.Subscription, error) {
		kinds := kindPair{owner.GroupKind(), child.GroupKind(), true}
		return e.view.Subscribe(life, child, func(event deploy.Event) {
			if counts, set := e.options.counts(kinds, event); counts || !set {
				e.observeChild(owner, event)
			}
		})
	})
	if err != nil {
		return fmt.Errorf("watch %s: %w", child.Kind, err)
	}
	return subscription.Synced(ctx)
}

func (e *Engine) observeChild(owner schema.GroupVersionKind, event deploy.Event) {
	for key := range e.owners.Of(owner, event) {
		e.queue.Add(key, request.Child)
	}
}

// children are the subscriptions to owned kinds; they live as long as the engine works.
type children struct {
	mu    sync.Mutex
	work  context.Context
	kinds map[ownership]*childKind
}

type ownership struct{ owner, child schema.GroupVersionKind }

// childKind is one owned kind of one owning kind.
type childKind struct {
	// turn is held by the one who subscribes; the others wait for it as long as they may.
	turn         chan struct{}
	subscription deploy.Subscription
}

func newChildren() *children { return &children{kinds: map[ownership]*childKind{}} }

func (c *children) open(work context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work = work
}

// subscribe returns the subscription of kinds, from start if there is none yet. That may ask
// the cluster: it ends with ctx, what it has started with the engine.
func (c *children) subscribe(ctx context.Context, kinds ownership, start func(context.Context) (deploy.Subscription, error)) (deploy.Subscription, error) {
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
		return kind.subscription, nil
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
	return subscription, nil
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
