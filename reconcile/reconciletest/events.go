package reconciletest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// events finds what has happened in the cluster since it was last looked at, and whom that concerns, by the
// rules of package watch. It is the Watcher of the reconcilers.
type events struct {
	*Harness
	// seen are the objects of watched kinds at the last look.
	seen map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured
	// kinds are those that the test or the reconcilers have to do with.
	kinds map[schema.GroupVersionKind]bool
	// wake says, on a real cluster, that something happened.
	wake chan struct{}

	mu sync.Mutex
	// owned are the kinds that a controlled kind owns.
	owned   map[schema.GroupVersionKind]map[schema.GroupVersionKind]bool
	watched map[schema.GroupVersionKind]deploy.Subscription
}

func newEvents(h *Harness) *events {
	e := &events{Harness: h, kinds: map[schema.GroupVersionKind]bool{}, wake: make(chan struct{}, 1), watched: map[schema.GroupVersionKind]deploy.Subscription{}}
	e.forget()
	return e
}

// forget is how it is after a restart.
func (e *events) forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.seen = map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured{}
	e.owned = map[schema.GroupVersionKind]map[schema.GroupVersionKind]bool{}
}

// Own implements reconcile.Watcher.
func (e *events) Own(ctx context.Context, owner, child schema.GroupVersionKind) error {
	if _, err := e.cluster.Port().Scope(ctx, child); err != nil {
		return err
	}
	if err := e.watch(child); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.owned[owner] == nil {
		e.owned[owner] = map[schema.GroupVersionKind]bool{}
	}
	e.owned[owner][child] = true
	return nil
}

// watch has a real cluster tell when something happens to a kind; one in memory is looked at.
func (e *events) watch(kind schema.GroupVersionKind) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	subscription := e.watched[kind]
	if e.memory != nil || subscription != nil {
		return nil
	}
	ctx := e.t.Context()
	subscription, err := e.cluster.View().Subscribe(ctx, kind, func(deploy.Event) {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return err
	}
	e.watched[kind] = subscription
	return subscription.Synced(ctx)
}

// known are the kinds that the test or the reconcilers have to do with.
func (e *events) known() []schema.GroupVersionKind {
	kinds := maps.Clone(e.kinds)
	for _, kind := range e.looked() {
		kinds[kind] = true
	}
	return slices.Collect(maps.Keys(kinds))
}

// looked are the kinds whose events matter: those that are controlled, and those that these own.
func (e *events) looked() []schema.GroupVersionKind {
	kinds := map[schema.GroupVersionKind]bool{}
	for kind := range e.reconcilers {
		kinds[kind] = true
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, children := range e.owned {
		maps.Copy(kinds, children)
	}
	return slices.Collect(maps.Keys(kinds))
}

// look tells whether something has changed since the last look, and has those reconciled whom it concerns.
func (e *events) look() (changed bool, err error) {
	var happened []deploy.Event
	for _, kind := range e.looked() {
		now, err := e.list(kind)
		if err != nil {
			return false, err
		}
		happened = append(happened, compare(e.seen[kind], now)...)
		e.seen[kind] = now
	}
	for _, event := range happened {
		e.concern(event)
	}
	return len(happened) > 0, nil
}

func (e *events) list(kind schema.GroupVersionKind) (map[deploy.Ref]*unstructured.Unstructured, error) {
	ctx := e.t.Context()
	scope, err := e.cluster.Port().Scope(ctx, kind)
	namespace := ""
	if e.memory == nil && scope == deploy.Namespaced {
		namespace = e.options.namespace
	}
	var objects []*unstructured.Unstructured
	if err == nil {
		objects, err = e.cluster.View().List(ctx, kind, namespace, nil)
	}
	var unknown *deploy.KindUnknownError
	if errors.As(err, &unknown) {
		return nil, nil
	}
	found := make(map[deploy.Ref]*unstructured.Unstructured, len(objects))
	for _, obj := range objects {
		found[deploy.RefOf(obj)] = obj
	}
	return found, err
}

func compare(before, now map[deploy.Ref]*unstructured.Unstructured) (happened []deploy.Event) {
	for ref, obj := range now {
		switch old := before[ref]; {
		case old == nil:
			happened = append(happened, deploy.Event{Type: deploy.Added, New: obj})
		case old.GetResourceVersion() != obj.GetResourceVersion():
			happened = append(happened, deploy.Event{Type: deploy.Modified, Old: old, New: obj})
		}
	}
	for ref, old := range before {
		if now[ref] == nil {
			happened = append(happened, deploy.Event{Type: deploy.Deleted, Old: old, New: old})
		}
	}
	return happened
}

// concern has the resources reconciled that an event is about.
func (e *events) concern(event deploy.Event) {
	kind := event.New.GroupVersionKind()
	ref := deploy.RefOf(event.New)
	if e.reconcilers[kind] != nil && e.mine(ref) {
		key := request.Key{Kind: kind, Namespace: ref.Namespace, Name: ref.Name}
		if event.Type != deploy.Modified || wantsReconcile(event.Old, event.New) {
			e.mark(key, event.Type != deploy.Modified || isAnother(event.Old, event.New))
		}
	}
	for owner := range e.reconcilers {
		if !e.owns(owner, kind) {
			continue
		}
		for resource, obj := range e.seen[owner] {
			if e.mine(resource) && (refersTo(event.Old, obj, event.Type) || refersTo(event.New, obj, event.Type)) {
				e.mark(request.Key{Kind: owner, Namespace: resource.Namespace, Name: resource.Name}, false)
			}
		}
	}
}

func (e *events) owns(owner, child schema.GroupVersionKind) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.owned[owner][child]
}

// mine tells whether a resource is this test's: on a real cluster there are others.
func (e *events) mine(ref deploy.Ref) bool {
	return e.memory != nil || ref.Namespace == e.options.namespace || e.applied[ref]
}

// refersTo tells whether child is owned by owner, or was by one of that name.
func refersTo(child, owner *unstructured.Unstructured, event deploy.EventType) bool {
	if child == nil {
		return false
	}
	for _, reference := range child.GetOwnerReferences() {
		version, err := schema.ParseGroupVersion(reference.APIVersion)
		if err != nil || reference.Kind != owner.GetKind() || version.Group != owner.GroupVersionKind().Group {
			continue
		}
		if reference.UID == owner.GetUID() || event == deploy.Deleted && reference.Name == owner.GetName() {
			return true
		}
	}
	return false
}

// wantsReconcile leaves out updates that nobody made for a controller to act on, such as its own status writes.
func wantsReconcile(before, after *unstructured.Unstructured) bool {
	return after.GetGeneration() == 0 || isAnother(before, after) ||
		(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		slices.ContainsFunc(before.GetFinalizers(), func(name string) bool { return !slices.Contains(after.GetFinalizers(), name) })
}

func isAnother(before, after *unstructured.Unstructured) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
}
