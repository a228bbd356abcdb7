package cluster

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
)

// subscription is one handler on the informers of a kind.
type subscription struct {
	parts []subscribed
}

type subscribed struct {
	informer     *informer
	registration cache.ResourceEventHandlerRegistration
}

func (w *watchedKind) subscribe(ctx context.Context, handle func(deploy.Event)) (*subscription, error) {
	s := &subscription{}
	for _, i := range w.informers {
		registration, err := i.AddEventHandler(handlers(ctx, handle))
		if err != nil {
			return nil, fmt.Errorf("subscribe: %w", err)
		}
		s.parts = append(s.parts, subscribed{i, registration})
		context.AfterFunc(ctx, func() {
			// The only error is a handle of another informer.
			_ = i.RemoveEventHandler(registration)
		})
	}
	return s, nil
}

// Synced implements deploy.Subscription.
func (s *subscription) Synced(ctx context.Context) error {
	for _, part := range s.parts {
		if err := waitSynced(ctx, part.registration.HasSyncedChecker(), part.informer); err != nil {
			return err
		}
	}
	return nil
}

// handlers tells handle of what happens. After a gap client-go tells of every object that is
// still there: those that are the same are left out, and one that took the place of another
// is told as what it is (spec: deploy W15).
func handlers(ctx context.Context, handle func(deploy.Event)) cache.ResourceEventHandler {
	deliver := func(event deploy.Event) {
		if ctx.Err() == nil {
			handle(event)
		}
	}
	added := func(obj *unstructured.Unstructured) { deliver(deploy.Event{Type: deploy.Added, New: obj}) }
	deleted := func(last *unstructured.Unstructured) {
		deliver(deploy.Event{Type: deploy.Deleted, Old: last, New: last})
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { added(obj.(*unstructured.Unstructured)) },
		UpdateFunc: func(before, after any) {
			old, current := before.(*unstructured.Unstructured), after.(*unstructured.Unstructured)
			switch {
			case old.GetUID() != current.GetUID():
				deleted(old)
				added(current)
			case old.GetResourceVersion() != current.GetResourceVersion():
				deliver(deploy.Event{Type: deploy.Modified, Old: old, New: current})
			}
		},
		DeleteFunc: func(obj any) {
			if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unseen.Obj
			}
			if last, ok := obj.(*unstructured.Unstructured); ok {
				deleted(last)
			}
		},
	}
}
