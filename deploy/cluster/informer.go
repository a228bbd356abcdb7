package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// errorPatience is how long a kind that can't be read keeps its readers waiting before they
// get the reason.
const errorPatience = 200 * time.Millisecond

// informer holds the objects of one kind in one namespace, or in all ("").
type informer struct {
	cache.SharedIndexInformer
	subject   failed
	resources *resources
	logger    *slog.Logger
	// standing tells that the watch's stream is open, failure why the last try to open it failed.
	standing atomic.Bool
	failure  atomic.Pointer[failureState]
}

type failureState struct{ err error }

func (s *store) startInformer(kind schema.GroupVersionKind, found resource, namespace string) (*informer, error) {
	client := s.client.Resource(found.GroupVersionResource)
	started := &informer{resources: s.resources, logger: s.logger,
		subject: failed{verb: "list and watch", resource: found, ref: deploy.Ref{Kind: kind, Namespace: namespace}}}
	lister := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return persist(ctx, started, func() (runtime.Object, error) { return client.Namespace(namespace).List(ctx, options) })
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			stream, err := persist(ctx, started, func() (watch.Interface, error) { return client.Namespace(namespace).Watch(ctx, options) })
			if err != nil {
				return nil, err
			}
			started.standing.Store(true)
			return standingWatch{stream, started}, nil
		},
	}, s.client)
	shared := cache.NewSharedIndexInformerWithOptions(lister, &unstructured.Unstructured{}, cache.SharedIndexInformerOptions{
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		ObjectDescription: kind.String(),
	})
	started.SharedIndexInformer = shared
	// Entries of the overlay end whether or not somebody is subscribed at the moment.
	if _, err := shared.AddEventHandler(handlers(s.ctx, func(event deploy.Event) { s.overlay.observe(kind, event) })); err != nil {
		return nil, fmt.Errorf("%s: watch: %w", kind.Kind, err)
	}
	// Failures are seen where they happen, see persist.
	if err := shared.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		return nil, fmt.Errorf("%s: watch: %w", kind.Kind, err)
	}
	s.running.Go(func() { shared.RunWithContext(s.ctx) })
	return started, nil
}

func (i *informer) log() *slog.Logger {
	return i.logger.With("kind", i.subject.ref.Kind.Kind, "namespace", i.subject.ref.Namespace)
}

// synced waits for the first list. When that fails the reason is returned after a moment in
// which a passing failure may heal.
func (i *informer) synced(ctx context.Context) error {
	return waitSynced(ctx, i.HasSyncedChecker(), i)
}

func waitSynced(ctx context.Context, checker cache.DoneChecker, informers ...*informer) error {
	select {
	case <-checker.Done():
		return nil
	default:
	}
	tick := time.NewTicker(errorPatience)
	defer tick.Stop()
	for {
		select {
		case <-checker.Done():
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
			for _, i := range informers {
				if state := i.failure.Load(); state != nil && !i.HasSynced() {
					return state.err
				}
			}
		}
	}
}

func (i *informer) get(ref deploy.Ref) *unstructured.Unstructured {
	key := ref.Name
	if ref.Namespace != "" {
		key = ref.Namespace + "/" + ref.Name
	}
	obj, found, err := i.GetIndexer().GetByKey(key)
	if err != nil || !found {
		return nil
	}
	return obj.(*unstructured.Unstructured)
}

// watchedKind is a kind that somebody subscribed to: one informer for all namespaces, under
// "", or one for each namespace in scope.
type watchedKind struct{ informers map[string]*informer }

// synced waits for the first list of every informer.
func (w *watchedKind) synced(ctx context.Context) error {
	for _, i := range w.informers {
		if err := i.synced(ctx); err != nil {
			return err
		}
	}
	return nil
}

// list returns what the informers hold of namespace, or of all ("").
func (w *watchedKind) list(namespace string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, i := range w.informers {
		var items []any
		if namespace == "" {
			items = i.GetIndexer().List()
		} else {
			// The only error is an index that doesn't exist.
			items, _ = i.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
		}
		for _, item := range items {
			objects = append(objects, item.(*unstructured.Unstructured))
		}
	}
	return objects
}
