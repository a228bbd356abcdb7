package reconcile

import (
	"context"
	"errors"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Watcher is told which kinds a session is about to read or write on behalf of a resource,
// so that it can be reconciled when objects of them change. It returns once the objects of
// kind child that exist are known. It is called from several goroutines, and with every
// reconcile again.
type Watcher interface {
	Own(ctx context.Context, owner, child schema.GroupVersionKind) error
}

// Follower is what a Watcher may offer beside: single objects that the resource of owner doesn't own bring it to
// reconcile when they come, change or go. It returns once they are known. What a reconcile that ends without an
// error didn't ask for is followed no longer.
type Follower interface {
	Watcher
	// Follow is told of one object, and returns once its present state is known.
	Follow(ctx context.Context, owner deploy.Ref, ref deploy.Ref) error
}

// Follow has the resource reconciled when the object that ref names comes, changes or goes, although it isn't the
// resource's own: a Secret that the spec names, say. Call it with every reconcile, and before the object is read:
// from then on Get and List of its kind cost no call. An empty namespace in ref means cluster scope. With a Watcher
// that is no Follower (package watch is one) the kind is watched, but not followed; without any, nothing is.
func (s *Session) Follow(ctx context.Context, ref deploy.Ref) error {
	follower, ok := s.watcher.(Follower)
	if !ok {
		return s.Own(ctx, ref.Kind)
	}
	key := deploy.Ref{Kind: s.Kind(), Namespace: s.Namespace(), Name: s.Name()}
	return follower.Follow(ctx, key, ref)
}

// Own has a kind watched before the first object of it is read or written, so that the resource is reconciled when one changes that it owns. What
// components render, and what Remove deletes, needs no call of it. A kind that isn't served yet is a *deploy.KindUnknownError; one that a component
// itself defines is watched once the component is deployed.
func (s *Session) Own(ctx context.Context, kind schema.GroupVersionKind) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Own(ctx, s.Kind(), kind)
}

// ownKinds has the kinds of a component watched. Those that it defines itself and that aren't served yet are left for later,
// when it is deployed.
func (s *Session) ownKinds(ctx context.Context, rendered *finishedRendering) (later []schema.GroupVersionKind, err error) {
	for _, kind := range rendered.kinds {
		err := s.Own(ctx, kind)
		switch {
		case err == nil:
		case isUnknownKind(err) && rendered.defines(kind.GroupKind()):
			later = append(later, kind)
		default:
			return nil, err
		}
	}
	return later, nil
}

func isUnknownKind(err error) bool {
	var unknown *deploy.KindUnknownError
	return errors.As(err, &unknown)
}

// defines tells whether a CustomResourceDefinition among the objects is that of kind.
func (f *finishedRendering) defines(kind schema.GroupKind) bool {
	return slices.ContainsFunc(f.contents, func(content *unstructured.Unstructured) bool {
		if content.GroupVersionKind().GroupKind() != definitionKind {
			return false
		}
		group, _, _ := unstructured.NestedString(content.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(content.Object, "spec", "names", "kind")
		return kind == schema.GroupKind{Group: group, Kind: name}
	})
}

// kindsOf returns the kinds of objects, each once, in their order.
func kindsOf(objects []*unstructured.Unstructured) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, obj := range objects {
		kinds = withKinds(kinds, obj.GroupVersionKind())
	}
	return kinds
}
