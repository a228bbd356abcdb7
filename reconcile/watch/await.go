package watch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// firstLook and longestLook bound the pause between two attempts to watch a kind. For a kind that isn't served, the
// pause lasts until the kind is served, if the view is a deploy.KindView.
const firstLook, longestLook = 250 * time.Millisecond, 5 * time.Second

// awaitControlled subscribes to a controlled kind, when its indexes are complete and its external sources have started.
// It reports whether its objects are known.
func (e *Engine) awaitControlled(ctx context.Context, c *controlled) bool {
	var subscription deploy.Subscription
	var synced atomic.Bool // events before that are about existing objects
	w := &watcher{
		look: func(event deploy.Event, listing bool) bool { return !c.isReleased() && e.observe(c, event, listing) },
		tell: func(event deploy.Event) {
			if !c.isReleased() {
				c.rules.IndexOwn(event)
				c.hooks.Observed(event)
			}
		},
	}
	prepare := e.preparation(ctx, c)
	return e.await(ctx, trigger.Subject{Owner: c.kind}, func() (err error) {
		if subscription == nil {
			if err := prepare(); err != nil {
				return err
			}
			c.open.Store(true)
			subscription, err = e.view.Subscribe(ctx, c.kind, func(event deploy.Event) { e.take(w, event, !synced.Load()) })
			c.open.Store(err == nil)
			if err == nil {
				e.admit(c)
			}
		}
		if err == nil {
			err = subscription.Synced(ctx)
		}
		synced.Store(err == nil)
		if err == nil {
			err = e.inbox.drain(ctx)
		}
		if err == nil && c.rules.IndexesOwn() {
			e.queue.Limit(c.kind.GroupKind(), c.limit(e.options))
		}
		return err
	}, func() {})
}

// preparation returns a function that completes the indexes of a kind and starts its external sources. If it returns an
// error, call it again: it continues where it failed.
func (e *Engine) preparation(ctx context.Context, c *controlled) func() error {
	starters := c.rules.Starters()
	indexed := len(c.rules.Foreign()) == 0
	return func() error {
		if !indexed {
			e.kinds.set(trigger.Subject{Owner: c.kind}, fmt.Errorf("its indexes come first: %w", errUnread))
			if err := e.index(ctx, c); err != nil {
				return err
			}
			e.kinds.set(trigger.Subject{Owner: c.kind}, errUnread)
			indexed = true
		}
		for len(starters) > 0 {
			_, err := failure.Value(func() (any, error) { return nil, starters[0].Start(ctx, target{e, c}) })
			if err != nil {
				return fmt.Errorf("an external source doesn't start: %w", err)
			}
			starters = starters[1:]
		}
		return nil
	}
}

// index subscribes to the indexed kinds of a kind, except the kind itself. It returns nil when all existing objects
// have been passed to the functions of the indexes.
func (e *Engine) index(ctx context.Context, c *controlled) error {
	places := c.rules.Foreign()
	failures := make([]error, len(places))
	var all sync.WaitGroup
	for i, place := range places {
		indexed := c.rules.Sources().Indexed[place].Kind
		all.Go(func() {
			failures[i] = e.subscribe(ctx, trigger.Subject{Owner: c.kind, Child: indexed, Indexed: place + 1}, func(event deploy.Event) {
				if !c.isReleased() {
					c.rules.Index(place, event)
				}
			})
		})
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil {
		return fmt.Errorf("its index isn't complete: %w", err)
	}
	return nil
}

// await attempts to watch a kind until it succeeds or ctx ends, and logs each reason for a failure once. It calls tried
// after each attempt, and reports whether it succeeded.
func (e *Engine) await(ctx context.Context, kinds trigger.Subject, attempt func() error, tried func()) bool {
	kind, logged := kinds.Watched(), ""
	e.kinds.set(kinds, errUnread)
	for delay := firstLook; ; delay = min(2*delay, longestLook) {
		err := attempt()
		if ctx.Err() == nil {
			e.kinds.set(kinds, err)
			switch {
			case err == nil:
				e.options.logger.Info("watching", "kind", kind.Kind, "version", kind.GroupVersion().String())
			case err.Error() != logged:
				logged = err.Error()
				e.options.logger.Warn("a kind can't be watched yet, waiting", "kind", kind.Kind, "reason", err)
				e.reportRights(ctx, err)
			}
		}
		tried()
		if ctx.Err() != nil || err == nil {
			return ctx.Err() == nil
		}
		if !e.pause(ctx, kind, err, delay) {
			return false
		}
	}
}

// pause waits before another attempt, for delay. If the reason is that the kind isn't served, and the view is a
// deploy.KindView, it then waits until the kind is served. It returns false if ctx has ended.
func (e *Engine) pause(ctx context.Context, kind schema.GroupVersionKind, reason error, delay time.Duration) bool {
	if !trigger.Sleep(ctx, delay) {
		return false
	}
	unknown, isUnknown := errors.AsType[*deploy.KindUnknownError](reason)
	if view, ok := e.view.(deploy.KindView); ok && isUnknown {
		if err := view.Served(ctx, unknown.Kind); err != nil && ctx.Err() == nil {
			e.options.logger.Debug("can't find out when a kind is served, retrying", "kind", kind.Kind, "reason", err)
		}
	}
	return ctx.Err() == nil
}
