package watch

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Times between two looks for a kind that can't be watched yet.
const (
	firstLook   = 250 * time.Millisecond
	longestLook = 5 * time.Second
)

// watchKind subscribes to a controlled kind, waiting for as long as it isn't served or the
// cluster doesn't answer, and saying so once for each reason.
func (e *Engine) watchKind(ctx context.Context, kind schema.GroupVersionKind) {
	var subscription deploy.Subscription
	var synced atomic.Bool // what comes before was there already
	attempt := func() (err error) {
		if subscription == nil {
			subscription, err = e.view.Subscribe(ctx, kind, func(event deploy.Event) { e.observe(kind, event, !synced.Load()) })
		}
		if err == nil {
			err = subscription.Synced(ctx)
		}
		return err
	}
	said := ""
	for delay := firstLook; ; delay = min(2*delay, longestLook) {
		err := attempt()
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			synced.Store(true)
			e.options.logger.Info("watching", "kind", kind.Kind, "version", kind.GroupVersion().String())
			return
		}
		if err.Error() != said {
			said = err.Error()
			e.options.logger.Warn("can't watch yet, waiting", "kind", kind.Kind, "reason", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
	}
}

// observe turns an event of a controlled object into a request.
func (e *Engine) observe(kind schema.GroupVersionKind, event deploy.Event, listing bool) {
	key, reconcile, anew := e.owners.Observe(kind, event)
	if counts, set := e.options.counts(kindPair{owner: kind.GroupKind()}, event); set {
		reconcile = counts
	}
	// Nothing is kept of what is gone, also when that doesn't count.
	if anew && (reconcile || event.Type == deploy.Deleted) {
		e.backoff.reset(key)
	}
	if !reconcile {
		return
	}
	e.queue.Add(key, triggersOf(event, listing))
}

// triggersOf says what an event of a controlled object is.
func triggersOf(event deploy.Event, listing bool) request.Triggers {
	switch {
	case event.Type == deploy.Deleted:
		return request.Deleted
	case trigger.IsDeleting(event.New):
		return request.Deleting
	case event.Type == deploy.Added && listing:
		return request.Listed
	}
	return request.Changed
}
