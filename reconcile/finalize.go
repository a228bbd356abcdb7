package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// finalize runs the controller's Finalize while the resource carries our finalizer, and
// removes that once it is done. Nobody's finalizer but our own is touched (spec: reconcile
// 35, mistakes 13 and 14).
func (r *Reconciler) finalize(ctx context.Context, s *Session) (request.Result, error) {
	if !r.finalizes() || !slices.Contains(s.resource.GetFinalizers(), r.options.finalizerName) {
		return request.Result{}, nil
	}
	if r.finalizer != nil {
		if err := guarded(func() error { return r.finalizer.Finalize(ctx, s) }); err != nil {
			return r.ended(ctx, s, nil, fmt.Errorf("finalize: %w", err))
		}
	}
	if err := r.removeTracked(ctx, s); err != nil {
		return r.ended(ctx, s, nil, fmt.Errorf("remove what it owns elsewhere: %w", err))
	}
	// Finalize may have taken a while: the finalizer comes off what is there now.
	resource, err := r.manager.View().Get(ctx, deploy.RefOf(s.resource))
	if err == nil && resource != nil && resource.GetUID() == s.resource.GetUID() {
		err = r.manager.RemoveFinalizer(ctx, resource, r.options.finalizerName)
	}
	if err != nil {
		return r.ended(ctx, s, nil, fmt.Errorf("remove the finalizer: %w", err))
	}
	return request.Result{}, nil
}
