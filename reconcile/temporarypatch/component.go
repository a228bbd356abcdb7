package temporarypatch

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
)

// component keeps the entry of one patch on its target. It has no objects: with the entry there it is ready
// (spec: patches 14).
type component struct {
	controller *Controller
	patch      *TemporaryPatch
}

// Build implements reconcile.Builder.
func (*component) Build(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }

// Deploy implements reconcile.Deployer (spec: patches 10, 11, mistake 17).
func (w *component) Deploy(ctx context.Context, s *reconcile.Session, _ *reconcile.Component) error {
	c, patch := w.controller, w.patch
	if err := c.checkScope(ctx, patch.Spec); err != nil {
		return err
	}
	// One that comes after its patch, or loses its annotation, is to be patched at once.
	if err := c.follow(ctx, s, patch.Spec); err != nil {
		return err
	}
	target, err := c.target(ctx, s, patch.Spec)
	if err != nil {
		return err
	}
	ref := deploy.Ref{Kind: s.Kind(), Namespace: s.Namespace(), Name: s.Name()}
	if s.DryRun() {
		return nil
	}
	over := expired(patch, c.options.now())
	exists := target != nil
	switch {
	case exists && over:
		exists, err = c.edit(ctx, target, c.without(patch.Name))
	case exists:
		exists, err = c.edit(ctx, target, c.recording(patch))
	}
	if err != nil {
		return fmt.Errorf("target %s %s: %w", patch.Spec.Kind, patch.Spec.Name, err)
	}
	if err := c.report(ctx, ref, patch, c.verdict(patch, exists, over)); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if !exists && !over {
		return reconcile.Precondition("waiting for the target %s %s", patch.Spec.Kind, patch.Spec.Name)
	}
	return nil
}
