package watch

import (
	"context"
	"time"

	"github.com/operkit/operkit/deploy"
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
	attempt := func() (err error) {
		if subscription == nil {
			subscription, err = e.view.Subscribe(ctx, kind, func(event deploy.Event) { e.observe(kind, event) })
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
func (e *Engine) observe(kind schema.GroupVersionKind, event deploy.Event) {
	key, reconcile, anew := e.owners.Observe(kind, event)
	if !reconcile {
		return
	}
	if anew {
		e.backoff.reset(key)
	}
	e.queue.Add(key)
}
