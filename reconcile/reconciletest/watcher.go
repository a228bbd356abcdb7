package reconciletest

import (
	"context"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Own implements source.Watcher.
func (e *events) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	if _, err := e.cluster.Port().Scope(ctx, child); err != nil {
		return err
	}
	if d := e.controlling(owner); d != nil {
		owner = d.kind
	}
	return e.subscribe(ctx, trigger.Subject{Owner: owner, Child: child}, e.ofChild(owner, child))
}

// Follow implements source.Watcher.
func (e *events) Follow(ctx context.Context, owner deploy.Ref, ref deploy.Ref) error {
	return e.follow(ctx, ref.Kind, func() { e.followers.Add(owner, ref) })
}

// FollowAll implements source.Watcher.
func (e *events) FollowAll(ctx context.Context, owner deploy.Ref, kind schema.GroupVersionKind, namespace string, selector labels.Selector) error {
	return e.follow(ctx, kind, func() { e.followers.AddAll(owner, kind, namespace, selector) })
}

func (e *events) follow(ctx context.Context, kind schema.GroupVersionKind, add func()) error {
	_, err := e.cluster.Port().Scope(ctx, kind)
	if err == nil {
		err = e.subscribe(ctx, trigger.Subject{Child: kind}, e.ofFollowed)
	}
	if err == nil {
		add()
	}
	return err
}

// subscribe watches the kind of a subject from now on. Further calls for the same subject do nothing. The existing
// objects are queued as events before it returns.
func (e *events) subscribe(ctx context.Context, s trigger.Subject, handle func(happened)) (err error) {
	e.turn.Lock()
	defer e.turn.Unlock()
	if e.subscribed(s) {
		return nil
	}
	to := &subscription{s, handle}
	if e.memory != nil {
		err = e.list(to)
	} else {
		err = e.listen(ctx, to)
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.subscriptions = append(e.subscriptions, to)
	return nil
}

func (e *events) subscribed(s trigger.Subject) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.ContainsFunc(e.subscriptions, func(other *subscription) bool { return other.Subject == s })
}

// listen subscribes to a real cluster.
func (e *events) listen(ctx context.Context, to *subscription) error {
	var synced atomic.Bool
	subscription, err := e.cluster.View().Subscribe(e.ctx, to.Watched(), func(event deploy.Event) {
		e.mu.Lock()
		e.waiting = append(e.waiting, happened{event, to, e.clock.now(), !synced.Load()})
		e.mu.Unlock()
		e.woken()
	})
	if err == nil {
		err = subscription.Synced(ctx)
	}
	synced.Store(err == nil)
	return err
}

// known returns the kinds that the test or a reconciler uses.
func (e *events) known() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersionKind]bool{}
	for ref := range e.applied {
		kinds[ref.Kind] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.subscriptions {
		kinds[s.Watched()] = true
	}
	for _, s := range e.unserved {
		kinds[s.Child] = true
	}
	return slices.Collect(maps.Keys(kinds))
}
