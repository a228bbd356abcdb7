package temporarypatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// componentName is the name of the only component of a patch.
	componentName = "temporarypatch"
	// lookAgain is how often a patch with an expiry is reconciled. The period of reconcile.Period doesn't apply to such
	// a patch, since the result of Requeue replaces that period.
	lookAgain = 10 * time.Minute
	// soonest and latest bound the time before the target and the result of its rendering are checked again.
	soonest, latest = time.Second, time.Minute
)

// Controller is the reconcile.Controller of temporary patches and the patching.Patcher of their targets.
// One value serves both, since the Patcher reports to the Controller. It is safe for concurrent use.
type Controller struct {
	manager *deploy.Manager
	kinds   []string
	options options
	schemas *schemas
	board   board
}

// New returns the Controller of patches for resources of the given kinds. Each kind has the form "Kind" (any group and
// version), "group/version/Kind", or "version/Kind" (the core group); see KindsOf. manager writes the annotation on
// targets, whose key has the manager's domain.
func New(manager *deploy.Manager, kinds []string, opts ...Option) (*Controller, error) {
	if manager == nil {
		return nil, errors.New("temporary patches: nil manager")
	}
	if err := checkKinds(kinds); err != nil {
		return nil, err
	}
	o, err := newOptions(manager.KeyDomain(), opts)
	if err != nil {
		return nil, err
	}
	// A failed reconcile is retried by its engine; no worker waits for a retry here.
	if manager, err = manager.With(deploy.RetryFor(0)); err != nil {
		return nil, err
	}
	return &Controller{manager: manager, kinds: slices.Clone(kinds), options: o, schemas: newSchemas()}, nil
}

// Kind implements reconcile.Controller.
func (c *Controller) Kind() schema.GroupVersionKind { return c.options.kind }

// Setup implements reconcile.Controller: the component temporarypatch keeps the patch's entry in the annotation of the
// target. An invalid patch is a request.Configuration error.
func (c *Controller) Setup(_ context.Context, s *reconcile.Session) error {
	patch, _, err := decode(s.Resource())
	if err != nil {
		return request.Configuration("%w", err)
	}
	if err := c.checkTarget(patch.Spec); err != nil {
		return err
	}
	s.Use(componentName, &component{controller: c, patch: patch})
	return nil
}

// Finalize implements reconcile.Finalizer: it removes the entry from the target, without waiting until the target was
// rendered without the patch.
func (c *Controller) Finalize(ctx context.Context, s *reconcile.Session) error {
	resource := s.Resource()
	ref := Target(resource)
	named := TemporaryPatchSpec{APIVersion: ref.Kind.GroupVersion().String(), Kind: ref.Kind.Kind, Name: ref.Name}
	if named.APIVersion == "" || named.Name == "" || !c.patchable(named) {
		return nil
	}
	target, err := target(ctx, s, named, func(context.Context, deploy.Ref) error { return nil })
	if failure.Is[*deploy.KindUnknownError](err) || err == nil && target == nil || s.DryRun() {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := c.edit(ctx, target, c.without(resource.GetName())); err != nil {
		return err
	}
	c.board.forget(resource.GetUID())
	return nil
}

// Requeue implements reconcile.Requeuer: the patch is reconciled again when it expires, and sooner while the result of
// the target's rendering isn't known.
func (c *Controller) Requeue(_ context.Context, s *reconcile.Session, outcome reconcile.Outcome) (time.Duration, error) {
	patch, _, err := decode(s.Resource())
	if err != nil {
		return 0, err
	}
	var after time.Duration
	now := c.options.now()
	if patch.Spec.ExpiresAt != nil && !expired(patch, now) {
		after = min(lookAgain, max(patch.Spec.ExpiresAt.Sub(now), time.Millisecond))
		if !outcome.Complete() {
			after = min(after, latest)
		}
	}
	// If the patch expired during this reconcile, the next reconcile reports that.
	if expired(patch, now) && outcome.Complete() && !saysExpired(s.Resource()) {
		after = soonest
	}
	if since, waiting := c.board.waiting(patch.UID); waiting && !expired(patch, now) {
		again := min(max(now.Sub(since), soonest), latest)
		if after == 0 || again < after {
			after = again
		}
	}
	return after, nil
}

// target returns the resource that spec names, or nil if there is none. It first calls the function before with the
// resource's reference, and then reads the resource.
func target(ctx context.Context, s *reconcile.Session, spec TemporaryPatchSpec, before func(context.Context, deploy.Ref) error) (*unstructured.Unstructured, error) {
	version, err := schema.ParseGroupVersion(spec.APIVersion)
	if err != nil {
		return nil, request.Configuration("spec.apiVersion: %w", err)
	}
	ref := deploy.Ref{Kind: version.WithKind(spec.Kind), Namespace: s.Namespace(), Name: spec.Name}
	var found *unstructured.Unstructured
	if err = before(ctx, ref); err == nil {
		found, err = s.Get(ctx, ref)
	}
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", ref, err)
	}
	return found, nil
}

// saysExpired reports whether the status already has the reason Expired.
func saysExpired(resource *unstructured.Unstructured) bool {
	applied, _ := status.Conditions(resource).Get(ConditionApplied)
	return applied.Reason == ReasonExpired
}

func expired(patch *TemporaryPatch, now time.Time) bool {
	return patch.Spec.ExpiresAt != nil && !now.Before(patch.Spec.ExpiresAt.Time)
}

// component keeps the entry of one patch on its target. The component has no objects: it is ready when the entry is
// there.
type component struct {
	controller *Controller
	patch      *TemporaryPatch
}

// Build implements reconcile.Builder.
func (*component) Build(context.Context, *reconcile.Session, *reconcile.Component) error { return nil }

// Deploy implements reconcile.Deployer.
func (w *component) Deploy(ctx context.Context, s *reconcile.Session, _ *reconcile.Component) error {
	c, patch := w.controller, w.patch
	if err := c.checkScope(ctx, patch.Spec); err != nil {
		return err
	}
	// Following the target causes a reconcile as soon as the target is created or loses its annotation.
	target, err := target(ctx, s, patch.Spec, s.Follow)
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
		return fmt.Errorf("report the result of the patch: %w", err)
	}
	if !exists && !over {
		return request.Precondition("waiting for the target %s %s", patch.Spec.Kind, patch.Spec.Name)
	}
	return nil
}
