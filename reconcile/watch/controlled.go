package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
	key := request.Key{Kind: kind, Namespace: event.New.GetNamespace(), Name: event.New.GetName()}
	switch event.Type {
	case deploy.Deleted:
		e.owners.remove(key, event.New.GetUID())
	default:
		e.owners.add(key, event.New.GetUID())
	}
	if event.Type == deploy.Modified && !wantsReconcile(event.Old, event.New) {
		return
	}
	if event.Type != deploy.Modified || isAnother(event.Old, event.New) {
		e.backoff.reset(key)
	}
	e.queue.Add(key)
}

// wantsReconcile leaves out updates that nobody made for us to act on, such as our own
// status writes (spec: watch 29, 31).
func wantsReconcile(before, after *unstructured.Unstructured) bool {
	return after.GetGeneration() == 0 || isAnother(before, after) ||
		(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		lostFinalizer(before, after)
}

// lostFinalizer tells whether a finalizer was taken off, which may have been ours.
func lostFinalizer(before, after *unstructured.Unstructured) bool {
	kept := after.GetFinalizers()
	return slices.ContainsFunc(before.GetFinalizers(), func(name string) bool { return !slices.Contains(kept, name) })
}

// isAnother tells whether after has another spec than before, or is another object of that name.
func isAnother(before, after *unstructured.Unstructured) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
}
