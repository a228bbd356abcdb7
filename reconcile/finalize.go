package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// finalize runs the controller's Finalize while the resource carries our finalizer, rolls out what that adds, and
// removes the finalizer once it is done; the default one too where there is no Finalize any more. Nobody's finalizer
// but our own is touched.
func (r *Reconciler) finalize(ctx context.Context, s *Session) (request.Result, error) {
	name := r.options.finalizerName
	if !r.finalizes() {
		// An earlier release may have had something to finalize.
		name = defaultFinalizer(r.Kind())
	}
	if !slices.Contains(s.resource.GetFinalizers(), name) {
		return request.Result{}, nil
	}
	if r.finalizer != nil {
		if err := r.setupFinalize(ctx, s); err != nil {
			return r.ended(ctx, s, nil, err)
		}
		if err := guarded(func() error { return r.finalizer.Finalize(ctx, s) }); err != nil {
			return r.ended(ctx, s, nil, saidBy("finalize", err))
		}
		if outcome, err := r.rollOutFinalize(ctx, s); outcome != nil || err != nil {
			return r.ended(ctx, s, outcome, err)
		}
	}
	if err := r.removeTracked(ctx, s); err != nil {
		return r.ended(ctx, s, nil, fmt.Errorf("remove what it owns elsewhere: %w", err))
	}
	// Finalize may have taken a while: the finalizer comes off what is there now.
	resource, err := r.manager.View().Get(ctx, deploy.RefOf(s.resource))
	if err == nil && resource != nil && resource.GetUID() == s.resource.GetUID() {
		err = r.manager.RemoveFinalizer(ctx, resource, name)
	}
	if err != nil {
		return r.ended(ctx, s, nil, fmt.Errorf("remove the finalizer: %w", err))
	}
	s.finalized = true
	return request.Result{}, nil
}

// setupFinalize finds out what the resource wants, as far as Finalize may need it. Which version it has doesn't
// matter any more; and a ConfigMap that is gone, maybe with the namespace, must not hold a deletion up.
func (r *Reconciler) setupFinalize(ctx context.Context, s *Session) error {
	if s.version = s.fixedVersion; s.version == "" {
		s.version, _ = r.options.versionOf(s.described)
	}
	if err := r.openAssets(ctx, s); err != nil {
		s.logger.Warn("finalizing without the files of the version", "version", s.version, "error", err)
		s.assets = missing{err}
	}
	err := r.configure(ctx, s)
	var gone *noConfigError
	if !errors.As(err, &gone) {
		return err
	}
	s.logger.Warn("finalizing without the configuration of a ConfigMap that is gone", "error", err)
	return r.layer(s, nil)
}
