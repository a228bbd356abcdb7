package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/operkit/operkit/deploy/internal/selection"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// store is the View of a cluster. It reads watched kinds from their informers, with our own latest writes on top, and
// everything else from the API server.
type store struct {
	ctx          context.Context
	requests     *requests
	resources    *resources
	definitions  *definitions
	scope        *scope
	metadataOnly map[schema.GroupKind]bool
	selected     map[schema.GroupKind]selection.Selection
	pool         *compact.Pool
	logger       *slog.Logger
	overlay      *overlay
	rights       rights
	beginScope   sync.Once
	running      sync.WaitGroup

	mu      sync.RWMutex
	watched map[schema.GroupVersionKind]*watchedKind
}

var (
	_ deploy.OwnedView  = (*store)(nil)
	_ deploy.RightsView = (*store)(nil)
)

func newStore(ctx context.Context, requests *requests, found *resources, pool *compact.Pool, o options) *store {
	s := &store{
		ctx: ctx, requests: requests, resources: found, pool: pool,
		metadataOnly: o.metadataOnly, selected: o.selected, logger: o.logger, watched: map[schema.GroupVersionKind]*watchedKind{},
	}
	s.overlay = newOverlay(o.logger, s.shown)
	s.definitions = newDefinitions(s)
	s.scope = newScope(s, o.namespaces, o.namespaceSelector)
	return s
}

// Get implements deploy.View.
func (s *store) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if !s.metadataOnly[ref.Kind.GroupKind()] {
		if obj, known, err := s.held(ctx, ref); known || err != nil {
			return obj, err
		}
	}
	return s.live(ctx, ref)
}

// Partial implements deploy.PartialView.
func (s *store) Partial(ctx context.Context, ref deploy.Ref) (obj *unstructured.Unstructured, whole bool, err error) {
	if obj, known, err := s.held(ctx, ref); known || err != nil {
		return obj, !s.metadataOnly[ref.Kind.GroupKind()], err
	}
	obj, err = s.live(ctx, ref)
	return obj, true, err
}

// held returns the object of ref from an own write or from its informer. known is false if only the API server knows
// the object.
func (s *store) held(ctx context.Context, ref deploy.Ref) (obj *unstructured.Unstructured, known bool, err error) {
	informer := s.informerOf(ref)
	if informer == nil {
		return nil, false, nil
	}
	if err := informer.awaitSynced(ctx); errors.Is(err, errClosed) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	current := informer.isCurrent() // before the read, because a list that completes after the read doesn't count
	obj, from := s.overlay.get(ref)
	// It isn't certain that an object is absent if only selected objects are watched, if the watch is broken, or if the
	// informer was closed meanwhile. Ask the API server then. Otherwise a caller would create the object again, with a
	// new password for example.
	_, selected := s.selected[ref.Kind.GroupKind()]
	uncertain := from == fromWatch && obj == nil && (selected || !current || s.informerOf(ref) != informer)
	if uncertain || from == fromNeither {
		return nil, false, nil
	}
	return obj, true, nil
}

// live reads an object from the API server. It returns nil if the object is absent.
func (s *store) live(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	got, err := on(ctx, s.resources, ref.Kind, func(at resource) (answer, error) { return s.requests.get(ctx, at, ref) })
	if _, absent := errors.AsType[*deploy.NotFoundError](err); absent {
		return nil, nil
	}
	return got.object, err
}

// liveMetadata is like live, but requests only the metadata.
func (s *store) liveMetadata(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	got, err := on(ctx, s.resources, ref.Kind, func(at resource) (answer, error) { return s.requests.getMetadata(ctx, at, ref) })
	if _, absent := errors.AsType[*deploy.NotFoundError](err); absent {
		return nil, nil
	}
	return got.object, err
}

// List implements deploy.View.
func (s *store) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if !s.metadataOnly[kind.GroupKind()] {
		within := func(o *objects) []*unstructured.Unstructured { return o.in(namespace) }
		if found, complete, err := s.collect(ctx, kind, namespace, within); complete || err != nil {
			return chosen(found, selector), err
		}
	}
	ref := deploy.Ref{Kind: kind, Namespace: namespace}
	return on(ctx, s.resources, kind, func(at resource) ([]*unstructured.Unstructured, error) {
		if chosen, ok := s.selected[kind.GroupKind()]; ok {
			return s.requests.list(ctx, at, ref, chosen.With(selector).Options())
		}
		return s.requests.list(ctx, at, ref, deploy.ListOptions{Labels: selector})
	})
}

// chosen returns the objects that selector matches, in the order of names. It changes the slice.
func chosen(objects []*unstructured.Unstructured, selector labels.Selector) []*unstructured.Unstructured {
	if selector != nil && !selector.Empty() {
		objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool {
			return !selector.Matches(labels.Set(obj.GetLabels()))
		})
	}
	byName(objects)
	return objects
}

// Owned implements deploy.OwnedView.
func (s *store) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	foreign := func(obj *unstructured.Unstructured) bool {
		refers := func(reference metav1.OwnerReference) bool { return reference.UID == owner }
		return namespace != "" && obj.GetNamespace() != namespace || !slices.ContainsFunc(obj.GetOwnerReferences(), refers)
	}
	owned := func(o *objects) []*unstructured.Unstructured { return o.owned(string(owner)) }
	found, complete, err := s.collect(ctx, kind, namespace, owned)
	if !complete && err == nil {
		found, err = s.List(ctx, kind, namespace, nil)
	}
	return slices.DeleteFunc(found, foreign), err
}

// collect calls find for the objects of each informer of a namespace ("": of all namespaces), and returns the results
// with our own writes on top. complete is false if the API server may have more objects.
func (s *store) collect(
	ctx context.Context, kind schema.GroupVersionKind, namespace string, find func(o *objects) []*unstructured.Unstructured,
) (found []*unstructured.Unstructured, complete bool, err error) {
	watched := s.watchedFor(kind, namespace)
	if watched == nil {
		return nil, false, nil
	}
	if err := watched.awaitSynced(ctx); errors.Is(err, errClosed) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	informer := watched.of(namespace)
	if informer == nil || !informer.hasSynced() {
		return nil, false, nil // the informer was closed or restarted meanwhile
	}
	found, complete = s.overlay.list(kind, namespace, func() []*unstructured.Unstructured { return watched.collect(namespace, find) })
	return found, complete && watched.of(namespace) == informer, nil // a closed informer shows no objects
}

// Holds reports whether Get and List of a kind need no request, because informers hold the whole objects and are
// current. namespace "" means all namespaces, or the cluster scope.
func (s *store) Holds(kind schema.GroupVersionKind, namespace string) bool {
	group := kind.GroupKind()
	if _, selected := s.selected[group]; selected || s.metadataOnly[group] {
		return false
	}
	watched := s.watchedFor(kind, namespace)
	if watched == nil {
		return false
	}
	informer := watched.of(namespace)
	return informer != nil && informer.isCurrent()
}

// Subscribe implements deploy.View.
func (s *store) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	watched, err := s.watch(ctx, kind)
	if err != nil {
		return nil, err
	}
	return watched.subscribe(ctx, handle), nil
}

// watch returns a watched kind, for one more subscription. If the kind wasn't watched, it starts its informers.
func (s *store) watch(ctx context.Context, kind schema.GroupVersionKind) (*watchedKind, error) {
	found, err := s.resources.of(ctx, kind)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if watched, ok := s.watched[kind]; ok {
		watched.users++
		return watched, nil
	}
	s.beginScope.Do(func() { s.scope.start(s.ctx) })
	group := kind.GroupKind()
	watched := s.newWatchedKind(kind, s.metadataOnly[group], s.selected[group])
	watched.viewed, watched.users = true, 1
	s.watched[kind] = watched
	life, end := context.WithCancel(s.ctx)
	watched.end = end
	s.running.Go(func() {
		watched.run(life, found)
		watched.close()
	})
	return watched, nil
}

// unwatch is called when a subscription has ended. After the last one, the informers of the kind stop, and reads of it
// go to the API server.
func (s *store) unwatch(watched *watchedKind) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if watched.users--; watched.users == 0 && watched.viewed {
		delete(s.watched, watched.kind)
		watched.end()
	}
}

// Served implements deploy.KindView.
func (s *store) Served(ctx context.Context, kind schema.GroupVersionKind) error {
	_, err := s.definitions.await(ctx, kind)
	return err
}

// lose requests a check whether the watched kinds of a resource are still served.
func (s *store) lose(which schema.GroupResource) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for kind, watched := range s.watched {
		if found, ok := s.resources.known(kind); ok && found.GroupResource() == which {
			watched.lose()
		}
	}
}

// watchedFor returns the watched kind if an informer has its objects in namespace, or nil.
func (s *store) watchedFor(kind schema.GroupVersionKind, namespace string) *watchedKind {
	s.mu.RLock()
	watched, ok := s.watched[kind]
	s.mu.RUnlock()
	if !ok || watched.of(namespace) == nil {
		return nil
	}
	return watched
}

// informerOf returns the informer that has the namespace of ref, or nil.
func (s *store) informerOf(ref deploy.Ref) *informer {
	if watched := s.watchedFor(ref.Kind, ref.Namespace); watched != nil {
		return watched.of(ref.Namespace)
	}
	return nil
}

// shown returns the state of ref in its informer.
func (s *store) shown(ref deploy.Ref) shown {
	if informer := s.informerOf(ref); informer != nil {
		return informer.shown(ref)
	}
	return shown{}
}
