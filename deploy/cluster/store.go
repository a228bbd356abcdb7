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
	requests     *requests
	resources    *resources
	definitions  *definitions
	scope        *scope
	metadataOnly map[schema.GroupKind]bool
	selected     map[schema.GroupKind]selection
	common       *common
	logger       *slog.Logger
	overlay      *overlay
	running      sync.WaitGroup

	mu      sync.RWMutex
	watched map[schema.GroupVersionKind]*watchedKind
}

func newStore(ctx context.Context, requests *requests, found *resources, o options) *store {
	s := &store{
		ctx: ctx, requests: requests, resources: found, common: newCommon(),
		metadataOnly: o.metadataOnly, selected: o.selected, logger: o.logger, watched: map[schema.GroupVersionKind]*watchedKind{},
	}
	s.overlay = newOverlay(o.logger, s.shown)
	s.definitions = newDefinitions(s)
	s.scope = newScope(s, o.namespaces, o.namespaceSelector)
	return s
}

// newFeed is that of a kind's informers.
func (s *store) newFeed(kind schema.GroupVersionKind, partial bool, selected selection) *feed {
	reader := decoder{known: s.written, common: s.common, partial: partial}
	return &feed{requests: s.requests, kind: kind, partial: partial, selected: selected, decoder: reader, common: s.common, logger: s.logger}
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
	if err := informer.awaitSynced(ctx); errors.Is(err, errClosed) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, err
	}
	standing := informer.standing.Load() // later it could be so by a list that came after obj was looked up
	obj, from := s.overlay.get(ref)
	// While the watch is broken an object may have come that it doesn't show, one of which only some are
	// selected is never told of others, and one that has ended shows nothing. To take it for absent would be to make
	// it, or its password, anew.
	_, selected := s.selected[ref.Kind.GroupKind()]
	doubtful := from == fromWatch && obj == nil && (selected || !standing || s.informerOf(ref) != informer)
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
		objects, complete, err := s.collected(ctx, watched, namespace, func(o *objects) []*unstructured.Unstructured { return o.in(namespace) })
		if err != nil {
			return nil, err
		}
		if complete {
			return chosen(objects, selector), nil
		}
	}
	ref := deploy.Ref{Kind: kind, Namespace: namespace}
	return on(ctx, s.resources, kind, func(at resource) ([]*unstructured.Unstructured, error) {
		return s.requests.list(ctx, at, ref, deploy.ListOptions{Labels: selector})
	})
}

// collected returns what of chooses from each informer for a namespace, or all (""), with our own writes on top. Not
// complete is a list of which the API server knows more.
func (s *store) collected(ctx context.Context, watched *watchedKind, namespace string, of func(o *objects) []*unstructured.Unstructured) (found []*unstructured.Unstructured, complete bool, err error) {
	if err := watched.awaitSynced(ctx); err != nil {
		return nil, false, err
	}
	informer := watched.of(namespace)
	if informer == nil || !informer.hasSynced() {
		return nil, false, nil // it has changed meanwhile
	}
	found, complete = s.overlay.list(watched.kind, namespace, func() []*unstructured.Unstructured { return watched.collect(namespace, of) })
	// One that has ended meanwhile may have shown nothing.
	return found, complete && watched.of(namespace) == informer, nil
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
	return watched.subscribe(ctx, handle), nil
}

// watch returns kind with its informers, started if they weren't.
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
	if len(s.watched) == 0 {
		s.scope.start(s.ctx)
	}
	group := kind.GroupKind()
	watched := s.newWatchedKind(kind, s.newFeed(kind, s.metadataOnly[group], s.selected[group]))
	watched.viewed = true
	s.watched[kind] = watched
	s.running.Go(func() { watched.run(s.ctx, found) })
	return watched, nil
}

// Served implements deploy.KindView.
func (s *store) Served(ctx context.Context, kind schema.GroupVersionKind) error {
	_, err := s.definitions.await(ctx, kind)
	return err
}

// lose has the watched kinds of a resource looked for: they may be served no longer.
func (s *store) lose(which schema.GroupResource) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for kind, watched := range s.watched {
		if found, ok := s.resources.known(kind); ok && found.GroupResource() == which {
			watched.lose()
		}
	}
}

func (s *store) informerOf(ref deploy.Ref) *informer {
	s.mu.RLock()
	watched, ok := s.watched[ref.Kind]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	return watched.of(ref.Namespace)
}

func (s *store) watchedFor(kind schema.GroupVersionKind, namespace string) *watchedKind {
	s.mu.RLock()
	watched, ok := s.watched[kind]
	s.mu.RUnlock()
	if !ok || watched.of(namespace) == nil {
		return nil
	}
	return watched
}

// Holds reports whether the objects of a kind in a namespace, empty for all of them or at cluster scope, are held whole
// by informers that have read them, so that Get and List need no request.
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
	return informer != nil && informer.hasSynced() && informer.standing.Load()
}
