package watch

import (
	"context"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
)

// patience bounds how long a kind waits until its declared kinds are watched.
const patience = 10 * time.Second

// watchKind brings objects of a controlled kind to reconcile, because of events and the sources of the kind, until ctx
// ends.
func (e *Engine) watchKind(ctx context.Context, c *controlled) {
	var others sync.WaitGroup
	defer others.Wait()
	// Declared kinds come first, if they are served: then their existing objects bring no object to reconcile a second
	// time.
	var tried []chan struct{}
	for kinds, attempt := range e.declared(ctx, c) {
		once := make(chan struct{})
		tried = append(tried, once)
		others.Go(func() { e.await(ctx, kinds, attempt, sync.OnceFunc(func() { close(once) })) })
	}
	first, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, once := range tried {
		select {
		case <-once:
		case <-first.Done():
		}
	}
	if !e.awaitControlled(ctx, c) {
		return
	}
	for _, external := range c.rules.Sources().External {
		others.Go(func() {
			trigger.RunExternal(ctx, external, target{e, c}, func(value any, stack []byte) {
				e.options.logger.Error("an external source panicked: it is run again", "kind", c.kind.Kind, "value", value, "stack", string(stack))
			})
		})
	}
}

// declared returns the kinds that the Sources of a controlled kind name, with the attempt to watch each. If a reconcile
// calls Own for a declared kind later, it shares the subscription.
func (e *Engine) declared(ctx context.Context, c *controlled) map[trigger.Subject]func() error {
	all, sources := map[trigger.Subject]func() error{}, c.rules.Sources()
	for _, owned := range sources.Owned {
		kinds := trigger.Subject{Owner: c.kind, Child: owned.Kind}
		all[kinds] = func() error { return e.subscribe(ctx, kinds, e.childHandler(c.kind, c.rules, owned.Kind)) }
	}
	for i, mapped := range sources.Mapped {
		kinds := trigger.Subject{Owner: c.kind, Child: mapped.Kind, Mapped: i + 1}
		all[kinds] = func() error {
			return e.subscribe(ctx, kinds, func(event deploy.Event) {
				if c.open.Load() {
					e.bringBy(request.Mapped, c.rules.Mapped(i, event), event)
				}
			})
		}
	}
	return all
}

// take adds an event to the inbox, for w.
func (e *Engine) take(w *watcher, event deploy.Event, listing bool) {
	e.events.Add(1)
	e.inbox.add(w, event, listing)
}

// observe turns an event of a controlled object into a request, if the event counts.
func (e *Engine) observe(c *controlled, event deploy.Event, listing bool) (brought bool) {
	key, anew := e.owners.Observe(c.kind, event)
	if event.Type == deploy.Deleted || event.Type == deploy.Left {
		c.hooks.Forget(key)
	}
	counts, forced := c.rules.Counts(event)
	switch {
	case event.Type == deploy.Left:
		e.queue.Drop(key)
		e.forget(key)
		return false
	case event.Type == deploy.Deleted && !counts:
		// Nothing is kept of a deleted object, even if the filter refuses its deletion.
		e.queue.Cancel(key)
		e.forget(key)
		return false
	case !counts:
		return false
	case anew, forced:
		c.backoff.reset(key)
	}
	why := trigger.Why(event, listing, forced)
	e.brought(key, why, event)
	e.queue.Add(key, why)
	return true
}

// dropped forgets an object that was dropped while it was reconciled, including the state that the reconcile has kept
// since.
func (e *Engine) dropped(key deploy.Ref) {
	e.forget(key)
	if c := e.of(key.Kind); c != nil {
		c.hooks.Forget(key)
	}
}

// forget drops everything that is known of an object, except its place in the queue.
func (e *Engine) forget(key deploy.Ref) {
	if c := e.of(key.Kind); c != nil {
		c.backoff.reset(key)
	}
	e.followers.Drop(key)
	e.echoes.Forget(key)
	e.outage.forget(key)
}

// bring adds keys to the queue.
func (e *Engine) bring(why request.Triggers, keys []deploy.Ref) {
	for _, key := range keys {
		e.queue.Add(key, why)
	}
}

// bringBy adds keys to the queue because of an event.
func (e *Engine) bringBy(why request.Triggers, keys []deploy.Ref, event deploy.Event) {
	for _, key := range keys {
		e.brought(key, why, event)
	}
	e.bring(why, keys)
}

// target is the source.Target of a kind.
type target struct {
	engine *Engine
	c      *controlled
}

// Bring implements source.Target. Before the kind is watched, keys wait.
func (t target) Bring(keys ...deploy.Ref) {
	keys = t.c.rules.Own(keys...)
	t.c.mu.Lock()
	defer t.c.mu.Unlock()
	switch {
	case t.c.released:
	case t.c.admitted:
		t.engine.bring(request.External, keys)
	default:
		t.c.early = append(t.c.early, keys...)
	}
}

// admit lets external sources bring objects of a kind to reconcile from now on.
func (e *Engine) admit(c *controlled) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return
	}
	c.admitted = true
	e.bring(request.External, c.early)
	c.early = nil
}

// Keys implements source.Target.
func (t target) Keys() []deploy.Ref { return t.engine.owners.Keys(t.c.kind) }

// Failed implements source.Target.
func (t target) Failed(err error) {
	t.engine.options.logger.Warn("an external source can't be read", "kind", t.c.kind.Kind, "error", err)
}
