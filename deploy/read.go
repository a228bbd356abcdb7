package deploy

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Get returns the object that ref names, as the View shows it: never older than this process's own
// writes. An absent object is nil without an error, a kind that the cluster doesn't serve a
// *KindUnknownError. It is shared: don't change it.
func (m *Manager) Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error) {
	return m.read(ctx, m.settings.retryFor, ref)
}

// List returns the objects of kind that selector matches (nil: all), ascending by namespace and name.
// An empty namespace means all of them. They are shared: don't change them.
func (m *Manager) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return retry(ctx, m.settings.retryFor, func() ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, namespace, selector)
	})
}

// WatchScope is what is watched; the zero value is all objects of the kind.
type WatchScope struct {
	// Namespace and Name limit it to one namespace, to one object; empty means any.
	Namespace, Name string
	// Labels select; nil selects all.
	Labels labels.Selector
}

func (w WatchScope) holds(obj *unstructured.Unstructured) bool {
	return obj != nil && (w.Namespace == "" || obj.GetNamespace() == w.Namespace) &&
		(w.Name == "" || obj.GetName() == w.Name) &&
		(w.Labels == nil || w.Labels.Matches(labels.Set(obj.GetLabels())))
}

// Watch calls handle for each object of kind in scope that exists, and for what happens to them from
// then on, as View.Subscribe does: one event of an object after the other, until ctx ends. An object
// that comes into the scope by a change of its labels is Added, one that leaves it Deleted, as it was
// last in it.
func (m *Manager) Watch(ctx context.Context, kind schema.GroupVersionKind, scope WatchScope, handle func(Event)) (Subscription, error) {
	return m.view.Subscribe(ctx, kind, func(event Event) {
		was, is := event.Type != Added && scope.holds(event.Old), event.Type != Deleted && scope.holds(event.New)
		switch {
		case event.Type == Deleted:
			if scope.holds(event.New) {
				handle(event)
			}
		case was && is:
			handle(event)
		case is:
			handle(Event{Type: Added, New: event.New})
		case was:
			handle(Event{Type: Deleted, Old: event.Old, New: event.Old})
		}
	})
}

// Kind finds the kind that a name means, as users write it: a kind, a resource, a singular or short
// name, alone or with its group and version ("Deployment", "deploy", "deployments.apps",
// "deployments.v1.apps"). A name that means nothing is a *KindUnknownError, one that means several
// kinds an *AmbiguousKindError. Where some of what is served isn't known, and nothing else is found, that is the error.
func (m *Manager) Kind(ctx context.Context, name string) (schema.GroupVersionKind, error) {
	short, rest, qualified := strings.Cut(name, ".")
	found, err := m.requests(m.settings).Kinds(ctx, short)
	var candidates []schema.GroupVersionKind
	for _, kind := range found {
		version, group, hasGroup := strings.Cut(rest, ".")
		switch {
		case !qualified, kind.Group == rest:
			candidates = append(candidates, kind)
		case hasGroup && kind.Group == group, !hasGroup && kind.Group == "" && isVersion(version):
			named := kind.GroupKind().WithVersion(version)
			if _, err := m.requests(m.settings).Scope(ctx, named); err != nil {
				return schema.GroupVersionKind{}, err
			}
			candidates = append(candidates, named)
		}
	}
	switch {
	case len(candidates) == 0 && err != nil:
		return schema.GroupVersionKind{}, err
	case len(candidates) == 0:
		return schema.GroupVersionKind{}, &KindUnknownError{Kind: schema.GroupVersionKind{Group: rest, Kind: short}}
	case len(candidates) == 1:
		return candidates[0], nil
	}
	return schema.GroupVersionKind{}, &AmbiguousKindError{Name: name, Candidates: candidates}
}

// isVersion tells a version such as v1beta1 from a group.
func isVersion(text string) bool {
	return len(text) > 1 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9'
}
