package reconciletest

import (
	"context"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// faultyView is view with errors injected, and with what it offers beside being a View.
func faultyView(view deploy.View, f *faults) deploy.View {
	base := faulty{view, f}
	owned, isOwned := view.(deploy.OwnedView)
	partial, isPartial := view.(deploy.PartialView)
	switch {
	case isOwned && isPartial:
		return struct {
			faulty
			ownedPart
			partialPart
		}{base, ownedPart{owned}, partialPart{partial, f}}
	case isOwned:
		return struct {
			faulty
			ownedPart
		}{base, ownedPart{owned}}
	case isPartial:
		return struct {
			faulty
			partialPart
		}{base, partialPart{partial, f}}
	}
	return base
}

type faulty struct {
	deploy.View
	faults *faults
}

// Get implements deploy.View.
func (v faulty) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	if err := v.faults.meet(ref); err != nil {
		return nil, err
	}
	return v.View.Get(ctx, ref)
}

type ownedPart struct{ owned deploy.OwnedView }

// Owned implements deploy.OwnedView.
func (v ownedPart) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	return v.owned.Owned(ctx, kind, namespace, owner)
}

type partialPart struct {
	partial deploy.PartialView
	hidden  *faults
}

// Partial implements deploy.PartialView.
func (v partialPart) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	if err := v.hidden.meet(ref); err != nil {
		return nil, false, err
	}
	return v.partial.Partial(ctx, ref)
}

// Holds reports what the View beneath does, false where that doesn't know.
func (v faulty) Holds(kind schema.GroupVersionKind, namespace string) bool {
	view, ok := v.View.(interface {
		Holds(kind schema.GroupVersionKind, namespace string) bool
	})
	return ok && view.Holds(kind, namespace)
}
