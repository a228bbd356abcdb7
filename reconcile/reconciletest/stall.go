package reconciletest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Stall lets the operator's watches of these kinds, such as "ConfigMap", fall behind: from now on its reads through a
// deploy.View and its events show the objects as they are now, until CatchUp, Restart or Kill. As in package
// deploy/cluster they are never older than the operator's own writes. Reads from the API server (deploy.Port) see the
// present objects. Without kinds the watches of all kinds fall behind of which there are objects or watches by now.
func (h *Harness) Stall(kinds ...string) {
	h.t.Helper()
	h.onlyInMemory("Stall")
	known := h.events.known()
	for _, obj := range h.memory.Objects() {
		known = append(known, obj.GroupVersionKind())
	}
	for _, name := range kinds {
		if !slices.ContainsFunc(known, func(kind schema.GroupVersionKind) bool { return kind.Kind == name }) {
			h.t.Fatalf("reconciletest: stall %s: nobody watches this kind, and there is no object of it", name)
		}
	}
	for _, kind := range known {
		if len(kinds) > 0 && !slices.Contains(kinds, kind.Kind) {
			continue
		}
		if err := h.stalls.freeze(h.t.Context(), kind, h.memory.View()); err != nil {
			h.t.Fatalf("reconciletest: stall %s: %v", kind.Kind, err)
		}
	}
}

// CatchUp ends Stall for these kinds, without kinds for all: the next run handles what has happened meanwhile. Several
// changes of an object are one event.
func (h *Harness) CatchUp(kinds ...string) { h.stalls.end(kinds...) }

// stalls are the objects of the kinds whose watches have fallen behind.
type stalls struct {
	mu     sync.Mutex
	frozen map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured
}

// freeze keeps the present objects of a kind, unless they are kept already.
func (s *stalls) freeze(ctx context.Context, kind schema.GroupVersionKind, view deploy.View) error {
	objects, err := view.List(ctx, kind, "", nil)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.frozen == nil {
		s.frozen = map[schema.GroupVersionKind]map[deploy.Ref]*unstructured.Unstructured{}
	}
	if s.frozen[kind] != nil {
		return nil
	}
	s.frozen[kind] = map[deploy.Ref]*unstructured.Unstructured{}
	for _, obj := range objects {
		s.frozen[kind][deploy.RefOf(obj)] = obj
	}
	return nil
}

// end shows the present objects of these kinds again, without kinds of all.
func (s *stalls) end(kinds ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.frozen, func(kind schema.GroupVersionKind, _ map[deploy.Ref]*unstructured.Unstructured) bool {
		return len(kinds) == 0 || slices.Contains(kinds, kind.Kind)
	})
}

// wrote shows the present state of an object that the operator has written.
func (s *stalls) wrote(ctx context.Context, ref deploy.Ref, view deploy.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind, objects := range s.frozen {
		if kind.GroupKind() != ref.Kind.GroupKind() {
			continue
		}
		ref.Kind = kind
		obj, err := view.Get(ctx, ref)
		switch {
		case err != nil: // the test has ended
		case obj == nil:
			delete(objects, ref)
		default:
			objects[deploy.RefOf(obj)] = obj
		}
	}
}

// get returns a kept object, nil if it is absent. stalled is false if the watch of its kind hasn't fallen behind.
func (s *stalls) get(ref deploy.Ref) (obj *unstructured.Unstructured, stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects, stalled := s.frozen[ref.Kind]
	return objects[ref], stalled
}

// list returns the kept objects of a kind for which wanted returns true, by namespace and name. An empty namespace
// means all namespaces. stalled is false if the watch of the kind hasn't fallen behind.
func (s *stalls) list(kind schema.GroupVersionKind, namespace string, wanted func(*unstructured.Unstructured) bool) (found []*unstructured.Unstructured, stalled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects, stalled := s.frozen[kind]
	for _, obj := range objects {
		if (namespace == "" || obj.GetNamespace() == namespace) && wanted(obj) {
			found = append(found, obj)
		}
	}
	slices.SortFunc(found, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return found, stalled
}

// selected returns a function that reports whether a selector matches an object; nil matches all.
func selected(selector labels.Selector) func(*unstructured.Unstructured) bool {
	return func(obj *unstructured.Unstructured) bool {
		return selector == nil || selector.Matches(labels.Set(obj.GetLabels()))
	}
}

// ownedBy returns a function that reports whether an object has an owner reference to owner.
func ownedBy(owner types.UID) func(*unstructured.Unstructured) bool {
	return func(obj *unstructured.Unstructured) bool {
		return slices.ContainsFunc(obj.GetOwnerReferences(), func(reference metav1.OwnerReference) bool { return reference.UID == owner })
	}
}
