package engine

import (
	"context"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// leaves reports whether a parent is being deleted, or isn't selected.
func (r *Reconciler) leaves(ctx context.Context, parent *unstructured.Unstructured) (bool, error) {
	if parent.GetDeletionTimestamp() != nil || r.Selects == nil {
		return parent.GetDeletionTimestamp() != nil, nil
	}
	selected, err := r.Selects(ctx, parent)
	return !selected, err
}

// isForeign reports whether a parent isn't selected and isn't held by the finalizer. It isn't written at all then, and
// nothing is remembered of it.
func (r *Reconciler) isForeign(ctx context.Context, key deploy.Ref) (bool, error) {
	if r.Selects == nil {
		return false, nil
	}
	parent, err := r.Manager.View().Get(ctx, key)
	if failure.Is[*deploy.KindUnknownError](err) {
		return false, nil
	}
	if err != nil || parent == nil || slices.Contains(parent.GetFinalizers(), r.finalizer) {
		return false, err
	}
	selected, unreadable := r.Selects(ctx, parent)
	if selected || unreadable != nil { // one that can't be read may be selected: its reconcile reports it
		return false, nil //nolint:nilerr // see above
	}
	r.Forget(key)
	return true, nil
}
