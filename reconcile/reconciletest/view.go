package reconciletest

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// shownView returns view as the operator sees it: injected errors, watches that have fallen behind, and the order of
// Interleave. It keeps the optional interfaces of view.
func shownView(view deploy.View, h *Harness) deploy.View {
	base := shown{view, h}
	owned, isOwned := view.(deploy.OwnedView)
	partial, isPartial := view.(deploy.PartialView)
	switch {
	case isOwned && isPartial:
		return struct {
			shown
			shownOwned
			shownPartial
		}{base, shownOwned{owned, h}, shownPartial{partial, h}}
	case isOwned:
		return struct {
			shown
			shownOwned
		}{base, shownOwned{owned, h}}
	case isPartial:
		return struct {
			shown
			shownPartial
		}{base, shownPartial{partial, h}}
	}
	return base
}

type shown struct {
	deploy.View
	harness *Harness
}

// Get implements deploy.View.
func (v shown) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	v.harness.gate.pass(ctx, Call{Verb: dryrun.VerbGet, Ref: ref}, "")
	if err := v.harness.faults.meet(ref); err != nil {
		return nil, err
	}
	if obj, stalled := v.harness.stalls.get(ref); stalled {
		return obj, ctx.Err()
	}
	return v.View.Get(ctx, ref)
}

// List implements deploy.View.
func (v shown) List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error) {
	return v.harness.list(ctx, kind, namespace, fmt.Sprint(selector), selected(selector), func() ([]*unstructured.Unstructured, error) {
		return v.View.List(ctx, kind, namespace, selector)
	})
}

type shownOwned struct {
	owned   deploy.OwnedView
	harness *Harness
}

// Owned implements deploy.OwnedView.
func (v shownOwned) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	return v.harness.list(ctx, kind, namespace, string(owner), ownedBy(owner), func() ([]*unstructured.Unstructured, error) {
		return v.owned.Owned(ctx, kind, namespace, owner)
	})
}

// list returns the kept objects that are wanted, if the watch of their kind has fallen behind, and else calls read.
// Lists that wait at once are ordered by text.
func (h *Harness) list(
	ctx context.Context, kind schema.GroupVersionKind, namespace, text string, wanted func(*unstructured.Unstructured) bool,
	read func() ([]*unstructured.Unstructured, error),
) ([]*unstructured.Unstructured, error) {
	h.gate.pass(ctx, Call{Verb: dryrun.VerbList, Ref: deploy.Ref{Kind: kind, Namespace: namespace}}, text)
	if objects, stalled := h.stalls.list(kind, namespace, wanted); stalled {
		return objects, ctx.Err()
	}
	return read()
}

type shownPartial struct {
	partial deploy.PartialView
	harness *Harness
}

// Partial implements deploy.PartialView.
func (v shownPartial) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	v.harness.gate.pass(ctx, Call{Verb: dryrun.VerbGet, Ref: ref}, "")
	if err := v.harness.faults.meet(ref); err != nil {
		return nil, false, err
	}
	if obj, stalled := v.harness.stalls.get(ref); stalled {
		return obj, true, ctx.Err()
	}
	return v.partial.Partial(ctx, ref)
}

// Served implements deploy.KindView.
func (v shown) Served(ctx context.Context, kind schema.GroupVersionKind) error {
	view, err := v.kinds()
	if err != nil {
		return err
	}
	return view.Served(ctx, kind)
}

// Kinds implements deploy.KindView.
func (v shown) Kinds(ctx context.Context) ([]deploy.ServedKind, error) {
	view, err := v.kinds()
	if err != nil {
		return nil, err
	}
	return view.Kinds(ctx)
}

// WatchKinds implements deploy.KindView. It returns at once if the wrapped View isn't a KindView.
func (v shown) WatchKinds(ctx context.Context, handle func(kinds []deploy.ServedKind)) {
	if view, err := v.kinds(); err == nil {
		view.WatchKinds(ctx, handle)
	}
}

// kinds returns the wrapped View as a KindView, if it is one.
func (v shown) kinds() (deploy.KindView, error) {
	view, ok := v.View.(deploy.KindView)
	if !ok {
		return nil, fmt.Errorf("reconciletest: a %T doesn't know which kinds are served: use a deploy.KindView", v.View)
	}
	return view, nil
}

// Holds implements the optional method of a View. It returns false if the wrapped View doesn't have the method.
func (v shown) Holds(kind schema.GroupVersionKind, namespace string) bool {
	view, ok := v.View.(interface {
		Holds(kind schema.GroupVersionKind, namespace string) bool
	})
	return ok && view.Holds(kind, namespace)
}
