package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// store is the View of a cluster: what the informers of watched kinds hold, overlaid with
// our own latest writes; live reads for all else.
type store struct {
	ctx          context.Context
	feeds        feeds
	requests     *requests
	resources    *resources
	namespaces   []string
	metadataOnly map[schema.GroupKind]bool
	logger       *slog.Logger
	overlay      *overlay
	running      sync.WaitGroup

	mu      sync.RWMutex
	watched map[schema.GroupVersionKind]*watchedKind
}

func newStore(ctx context.Context, from feeds, requests *requests, found *resources, o options) *store {
	s := &store{
		ctx: ctx, feeds: from, requests: requests, resources: found,
		namespaces: o.namespaces, metadataOnly: o.metadataOnly, logger: o.logger, watched: map[schema.GroupVersionKind]*watchedKind{},
	}
	s.overlay = newOverlay(o.logger, s.shown)
	return s
}

// shown returns what the informer of ref shows.
func (s *store) shown(ref deploy.Ref) shown {
	if informer := s.informerOf(ref); informer != nil {
		return informer.shown(ref)
	}
	return shown{}
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

// held is what the informer of ref, or an own write, shows; not known is what only the API server can
// tell.
func (s *store) held(ctx context.Context, ref deploy.Ref) (obj *unstructured.Unstructured, known bool, err error) {
	informer := s.informerOf(ref)
	if informer == nil {
		return nil, false, nil
	}
	if err := informer.synced(ctx); err != nil {
		return nil, false, err
	}
	obj, from := s.overlay.get(ref)
	// While the watch is broken an object may have come that it doesn't show. To take it for
	// absent would be to make it, or its password, anew.
	doubtful := from == fromWatch && obj == nil && !informer.standing.Load()
	if doubtful || from == fromNeither {
		return nil, false, nil
	}
	return obj, true, nil
}

// live asks the API server.
func (s *store) live(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	got, err := on(ctx, s.resources, ref.Kind, func(at resource) (answer, error) { return s.requests.get(ctx, at, ref) })
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		return nil, nil
	}
	return got.object, err
}

// List implements deploy.View.
func (s *store) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if watched := s.watchedFor(kind, namespace); watched != nil && !s.metadataOnly[kind.GroupKind()] {
		if err := watched.synced(ctx); err != nil {
			return nil, err
		}
		objects, complete := s.overlay.list(kind, namespace, func() []*unstructured.Unstructured { return watched.list(namespace) })
		if complete {
			return chosen(objects, selector), nil
		}
	}
	ref := deploy.Ref{Kind: kind, Namespace: namespace}
	return on(ctx, s.resources, kind, func(at resource) ([]*unstructured.Unstructured, error) {
		return s.requests.list(ctx, at, ref, deploy.ListOptions{Labels: selector})
	})
}

// chosen returns those of objects that selector matches, in the order of names. objects are
// changed.
func chosen(objects []*unstructured.Unstructured, selector labels.Selector) []*unstructured.Unstructured {
	if selector != nil && !selector.Empty() {
		objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool {
			return !selector.Matches(labels.Set(obj.GetLabels()))
		})
	}
	byName(objects)
	return objects
}

// Subscribe implements deploy.View.
func (s *store) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	watched, err := s.watch(ctx, kind)
	if err != nil {
		return nil, err
	}
	return watched.subscribe(ctx, func(event deploy.Event) {
		// First, so that a read made because of this event isn't answered by an older write.
		s.overlay.observe(kind, event)
		handle(event)
	})
}

// watch returns the informers of kind, started if they weren't.
func (s *store) watch(ctx context.Context, kind schema.GroupVersionKind) (*watchedKind, error) {
	found, err := s.resources.of(ctx, kind)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if watched, ok := s.watched[kind]; ok {
		return watched, nil
	}
	namespaces := s.namespaces
	if len(namespaces) == 0 || found.scope == deploy.ClusterScoped {
		namespaces = []string{""}
	}
	watched := &watchedKind{informers: make(map[string]*informer, len(namespaces))}
	for _, namespace := range namespaces {
		started, err := s.startInformer(kind, found, namespace)
		if err != nil {
			return nil, err
		}
		watched.informers[namespace] = started
	}
	s.watched[kind] = watched
	return watched, nil
}

func (s *store) informerOf(ref deploy.Ref) *informer {
	s.mu.RLock()
	defer s.mu.RUnlock()
	watched, ok := s.watched[ref.Kind]
	if !ok {
		return nil
	}
	return watched.of(ref.Namespace)
}

func (s *store) watchedFor(kind schema.GroupVersionKind, namespace string) *watchedKind {
	s.mu.RLock()
	defer s.mu.RUnlock()
	watched, ok := s.watched[kind]
	if !ok || watched.of(namespace) == nil {
		return nil
	}
	return watched
}
