package watch

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// firstLook and longestLook are times between two looks for a kind that can't be watched yet.
	firstLook, longestLook = 250 * time.Millisecond, 5 * time.Second
	// patience is how long the objects of a kind wait for those of the kinds that it declares.
	patience = 10 * time.Second
)

// watchKind has a controlled kind and its sources bring objects to reconcile, until ctx ends.
func (e *Engine) watchKind(ctx context.Context, c *controlled) {
	var others, tried sync.WaitGroup
	defer others.Wait()
	for _, declared := range e.declared(ctx, c) {
		tried.Add(1)
		others.Go(func() { e.await(ctx, declared.kinds, declared.attempt, sync.OnceFunc(tried.Done)) })
	}
	// First what is declared, if it is served: then what exists of it brings nobody for a second time.
	waitFor(ctx, &tried, patience)
	if !e.awaitControlled(ctx, c) {
		return
	}
	for _, external := range c.rules.Sources().External {
		others.Go(func() { e.runExternal(ctx, c, external) })
	}
}

// waitFor waits for group until ctx ends, and for a time at most.
func waitFor(ctx context.Context, group *sync.WaitGroup, longest time.Duration) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// awaitControlled subscribes to a controlled kind. It tells whether its objects are known.
func (e *Engine) awaitControlled(ctx context.Context, c *controlled) bool {
	var subscription deploy.Subscription
	var synced atomic.Bool // what comes before was there already
	w := &watcher{
		look: func(event deploy.Event, listing bool) bool { return e.observe(c, event, listing) },
		tell: func(event deploy.Event) { c.tell(event, e.options.logger) },
	}
	return e.await(ctx, ownership{owner: c.kind}, func() (err error) {
		if subscription == nil {
			c.open.Store(true)
			subscription, err = e.view.Subscribe(ctx, c.kind, func(event deploy.Event) { e.take(w, event, !synced.Load()) })
			c.open.Store(err == nil)
		}
		if err == nil {
			err = subscription.Synced(ctx)
		}
		synced.Store(err == nil)
		if err == nil {
			err = e.inbox.settle(ctx)
		}
		return err
	}, func() {})
}

// await makes attempts to watch a kind for as long as it isn't served or the cluster doesn't answer, and says so once for
// each reason. It calls tried after each, and tells whether one succeeded before ctx ended.
func (e *Engine) await(ctx context.Context, kinds ownership, attempt func() error, tried func()) bool {
	kind, said := kinds.watched(), ""
	e.kinds.set(kinds, errUnread)
	for delay := firstLook; ; delay = min(2*delay, longestLook) {
		err := attempt()
		if ctx.Err() != nil {
			tried()
			return false
		}
		e.kinds.set(kinds, err)
		if err == nil {
			e.options.logger.Info("watching", "kind", kind.Kind, "version", kind.GroupVersion().String())
			tried()
			return true
		}
		if err.Error() != said {
			said = err.Error()
			e.options.logger.Warn("can't watch yet, waiting", "kind", kind.Kind, "reason", err)
		}
		tried()
		if !e.pause(ctx, kind, err, delay) {
			return false
		}
	}
}

// pause waits until there may be sense in another attempt: for a time, and for a kind that isn't served until it is, if the
// view can tell. It tells whether ctx still goes on.
func (e *Engine) pause(ctx context.Context, kind schema.GroupVersionKind, reason error, delay time.Duration) bool {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	var unknown *deploy.KindUnknownError
	if view, ok := e.view.(deploy.KindView); ok && errors.As(reason, &unknown) {
		if err := view.Served(ctx, kind); err != nil && ctx.Err() == nil {
			e.options.logger.Debug("can't be told when a kind is served, looking again", "kind", kind.Kind, "reason", err)
		}
	}
	return ctx.Err() == nil
}

// take has w look at an event in its turn.
func (e *Engine) take(w *watcher, event deploy.Event, listing bool) {
	e.events.Add(1)
	e.inbox.add(w, event, listing)
}

// observe turns an event of a controlled object into a request, if it counts.
func (e *Engine) observe(c *controlled, event deploy.Event, listing bool) (brought bool) {
	key, anew := e.owners.Observe(c.kind, event)
	if event.Type == deploy.Deleted || event.Type == deploy.Left {
		c.forget(key, e.options.logger)
	}
	counts, forced := c.rules.Counts(event)
	switch {
	case event.Type == deploy.Left:
		e.queue.Drop(key)
		e.forget(key)
		return false
	case event.Type == deploy.Deleted && !counts:
		// Nothing is kept of what is gone, also when that doesn't count.
		e.queue.Cancel(key)
		e.forget(key)
		return false
	case !counts:
		return false
	case anew, forced:
		e.backoff.reset(key)
	}
	e.queue.Add(key, trigger.Why(event, listing, forced))
	return true
}

// dropped forgets an object that was dropped while it was reconciled, with what that reconcile has kept of it.
func (e *Engine) dropped(key deploy.Ref) {
	e.forget(key)
	e.controlled[key.Kind].forget(key, e.options.logger)
}

// forget drops what is known of an object beside its place in the queue.
func (e *Engine) forget(key deploy.Ref) {
	e.backoff.reset(key)
	e.followers.Drop(key)
	e.echoes.forget(key)
	e.outage.forget(key)
}

// ownership is why a kind is watched: it is controlled (an owner alone), owned, followed (a child alone), or mapped, by
// its place among the mapped kinds, counted from one.
type ownership struct {
	owner, child schema.GroupVersionKind
	mapped       int
}

// watched is the kind whose events are asked for.
func (o ownership) watched() schema.GroupVersionKind {
	if o.child.Empty() {
		return o.owner
	}
	return o.child
}
