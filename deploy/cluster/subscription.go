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

func handlers(ctx context.Context, handle func(deploy.Event)) cache.ResourceEventHandler {
	deliver := func(event deploy.Event) {
		if ctx.Err() == nil {
			handle(event)
		}
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			deliver(deploy.Event{Type: deploy.Added, New: obj.(*unstructured.Unstructured)})
		},
		UpdateFunc: func(before, after any) {
			deliver(deploy.Event{Type: deploy.Modified, Old: before.(*unstructured.Unstructured), New: after.(*unstructured.Unstructured)})
		},
		DeleteFunc: func(obj any) {
			if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = unseen.Obj
			}
			if last, ok := obj.(*unstructured.Unstructured); ok {
				deliver(deploy.Event{Type: deploy.Deleted, Old: last, New: last})
			}
		},
	}
}
