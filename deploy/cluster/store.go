package cluster

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// store is the View of a cluster: what the informers of watched kinds hold, overlaid with
// our own latest writes; live reads for all else.
type store struct {
	ctx        context.Context
	client     dynamic.Interface
	requests   *requests
	resources  *resources
	namespaces []string
	logger     *slog.Logger
	overlay    *overlay
	running    sync.WaitGroup

	mu      sync.RWMutex
	watched map[schema.GroupVersionKind]*watchedKind
}

func newStore(ctx context.Context, client dynamic.Interface, requests *requests, found *resources, o options) *store {
	return &store{
		ctx: ctx, client: client, requests: requests, resources: found,
		namespaces: o.namespaces, logger: o.logger, overlay: newOverlay(o.logger),
		watched: map[schema.GroupVersionKind]*watchedKind{},
	}
}

// Get implements deploy.View.
func (s *store) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if informer := s.informerOf(ref); informer != nil {
		if err := informer.synced(ctx); err != nil {
			return nil, err
		}
		obj, from := s.overlay.get(ref, informer.get)
		// While the watch is broken an object may have come that it doesn't show. To take it for
		// absent would be to make it, or its password, anew.
		doubtful := from == fromWatch && obj == nil && !informer.standing.Load()
		if !doubtful && from != fromNeither {
			return obj, nil
		}
	}
	found, err := s.resources.of(ctx, ref.Kind)
	if err != nil {
		return nil, err
	}
	obj, err := s.requests.get(ctx, found, ref)
	var absent *deploy.NotFoundError
	if errors.As(err, &absent) {
		return nil, nil
	}
	return obj, err
}

// List implements deploy.View.
func (s *store) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	if selector == nil {
		selector = labels.Everything()
	}
	var objects []*unstructured.Unstructured
	if watched := s.watchedFor(kind, namespace); watched != nil {
		if err := watched.synced(ctx); err != nil {
			return nil, err
		}
		objects = s.overlay.list(kind, namespace, func() []*unstructured.Unstructured { return watched.list(namespace) })
	} else {
		found, err := s.resources.of(ctx, kind)
		if err != nil {
			return nil, err
		}
		if objects, err = s.requests.list(ctx, found, deploy.Ref{Kind: kind, Namespace: namespace}, selector.String()); err != nil {
			return nil, err
		}
	}
	objects = slices.DeleteFunc(objects, func(obj *unstructured.Unstructured) bool {
		return !selector.Matches(labels.Set(obj.GetLabels()))
	})
	slices.SortFunc(objects, func(a, b *unstructured.Unstructured) int {
		if order := strings.Compare(a.GetNamespace(), b.GetNamespace()); order != 0 {
			return order
		}
		return strings.Compare(a.GetName(), b.GetName())
	})
	return objects, nil
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
	if everywhere, ok := watched.informers[""]; ok {
		return everywhere
	}
	return watched.informers[ref.Namespace]
}

func (s *store) watchedFor(kind schema.GroupVersionKind, namespace string) *watchedKind {
	if s.informerOf(deploy.Ref{Kind: kind, Namespace: namespace}) == nil {
		return nil
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.watched[kind]
}
