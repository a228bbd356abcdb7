package watch

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
)

// declaredKind is a kind that the Sources of a controlled one name, and how it is watched.
type declaredKind struct {
	kinds   ownership
	attempt func() error
}

// declared are the kinds that are watched from the start (spec: watch mistake 23). What a reconcile asks for later shares
// their subscriptions.
func (e *Engine) declared(ctx context.Context, c *controlled) (all []declaredKind) {
	sources := c.rules.Sources()
	for _, owned := range sources.Owned {
		kinds := ownership{owner: c.kind, child: owned.Kind}
		all = append(all, declaredKind{kinds, func() error {
			return e.subscribe(ctx, kinds, e.childHandler(c.kind, c.rules, owned.Kind))
		}})
	}
	for i, mapped := range sources.Mapped {
		kinds := ownership{c.kind, mapped.Kind, i + 1}
		handle := func(event deploy.Event) {
			if c.open.Load() {
				e.bring(request.Mapped, c.rules.Mapped(i, event))
			}
		}
		all = append(all, declaredKind{kinds, func() error { return e.subscribe(ctx, kinds, handle) }})
	}
	return all
}

// bring has the objects reconciled that keys name.
func (e *Engine) bring(why request.Triggers, keys []deploy.Ref) {
	for _, key := range keys {
		e.queue.Add(key, why)
	}
}

// runExternal runs an external source until it or ctx ends. One that panics is run again.
func (e *Engine) runExternal(ctx context.Context, c *controlled, external source.External) {
	for failures := 0; ; failures++ {
		if e.runOnce(ctx, c, external) || ctx.Err() != nil {
			return
		}
		timer := time.NewTimer(trigger.Delay(trigger.FirstRetry, trigger.LongestRetry, failures))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// runOnce tells whether external has come to its end, and not panicked.
func (e *Engine) runOnce(ctx context.Context, c *controlled, external source.External) (ended bool) {
	defer func() {
		if value := recover(); value != nil {
			ended = false
			e.options.logger.Error("an external source panicked: it is run again", "kind", c.kind.Kind, "value", value, "stack", string(debug.Stack()))
		}
	}()
	external.Run(ctx, target{e, c})
	return true
}

// target is where an external source brings its keys.
type target struct {
	engine *Engine
	c      *controlled
}

// Bring implements source.Target.
func (t target) Bring(keys ...deploy.Ref) {
	t.engine.bring(request.External, t.c.rules.Own(keys...))
}

// Keys implements source.Target.
func (t target) Keys() []deploy.Ref { return t.engine.owners.Keys(t.c.kind) }

// Failed implements source.Target.
func (t target) Failed(err error) {
	t.engine.options.logger.Warn("an external source can't be read", "kind", t.c.kind.Kind, "error", err)
}
