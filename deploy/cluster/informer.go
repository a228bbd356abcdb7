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
	feed      feed
	resources *resources
	logger    *slog.Logger
	// standing tells that the watch's stream is open, failure why the last try to open it failed.
	standing atomic.Bool
	failure  atomic.Pointer[failureState]
	// relisting is the last list of all objects as they were then, done or not.
	relisting atomic.Pointer[relisting]
}

type failureState struct{ err error }

type relisting struct {
	begun time.Time
	// before is the version that the informer had heard of by then.
	before string
}

func (s *store) startInformer(kind schema.GroupVersionKind, found resource, namespace string) (*informer, error) {
	started := &informer{feed: s.feeds.whole(s.written), resources: s.resources, logger: s.logger,
		subject: failed{verb: "list and watch", resource: found, ref: deploy.Ref{Kind: kind, Namespace: namespace}}}
	if s.metadataOnly[kind.GroupKind()] {
		started.feed = s.feeds.partial()
	}
	lister := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: started.list, WatchFuncWithContext: started.watch,
	}, started.feed.client)
	shared := cache.NewSharedIndexInformerWithOptions(lister, started.feed.example, cache.SharedIndexInformerOptions{
		Indexers:          cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, ownerIndex: owners},
		ObjectDescription: kind.String(),
	})
	started.SharedIndexInformer = shared
	if err := shared.SetTransform(asKind(kind)); err != nil {
		return nil, fmt.Errorf("%s: watch: %w", kind.Kind, err)
	}
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

func (i *informer) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	if options.Continue == "" {
		i.relists(options)
	}
	return persist(ctx, i, func(at schema.GroupVersionResource) (runtime.Object, error) {
		return i.feed.list(ctx, at, i.subject.ref.Namespace, options)
	})
}

func (i *informer) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		i.relists(options)
	}
	stream, err := persist(ctx, i, func(at schema.GroupVersionResource) (watch.Interface, error) {
		return i.feed.watch(ctx, at, i.subject.ref.Namespace, options)
	})
	if err != nil {
		return nil, err
	}
	i.standing.Store(true)
	return standingWatch{stream, i}, nil
}

// relists notes that a list begins. One that may be as old as a version seen before says
// nothing about what was written since.
func (i *informer) relists(options metav1.ListOptions) {
	i.relisting.Store(nil)
	if options.ResourceVersion == "" {
		i.relisting.Store(&relisting{begun: time.Now(), before: i.LastSyncResourceVersion()})
	}
}

// served returns where the kind is served now. An informer of one namespace
// can't follow a kind that has left namespaces.
func (i *informer) served(ctx context.Context) (schema.GroupVersionResource, error) {
	found, err := i.resources.of(ctx, i.subject.ref.Kind)
	if err == nil && i.subject.ref.Namespace != "" && found.scope == deploy.ClusterScoped {
		err = &deploy.InvalidManifestError{Ref: i.subject.ref, Reason: "its kind has become cluster-scoped: start anew to watch it"}
	}
	return found.GroupVersionResource, err
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

// shown returns what the informer shows of ref: how far it has come first, so that the
// object isn't older than that.
func (i *informer) shown(ref deploy.Ref) shown {
	now := shown{version: i.GetIndexer().LastStoreSyncResourceVersion()}
	if list := i.relisting.Load(); list != nil && now.version != list.before && now.version == i.LastSyncResourceVersion() {
		now.listed = list.begun
	}
	key := ref.Name
	if ref.Namespace != "" {
		key = ref.Namespace + "/" + ref.Name
	}
	// The only error is of a key that can't be made from an object.
	if obj, found, err := i.GetIndexer().GetByKey(key); err == nil && found {
		now.object, _ = obj.(*unstructured.Unstructured)
	}
	return now
}

// watchedKind is a kind that somebody subscribed to: one informer for all namespaces, under
// "", or one for each namespace in scope.
type watchedKind struct{ informers map[string]*informer }

// of returns the informer that shows the objects of namespace, nil if there is none.
func (w *watchedKind) of(namespace string) *informer {
	if everywhere, ok := w.informers[""]; ok {
		return everywhere
	}
	return w.informers[namespace]
}

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
			if obj, ok := item.(*unstructured.Unstructured); ok {
				objects = append(objects, obj)
			}
		}
	}
	return objects
}
