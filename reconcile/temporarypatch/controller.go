package temporarypatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	// componentName is that of the one component of a patch (spec: patches 6).
	componentName = "temporarypatch"
	// lookAgain is how often a patch is reconciled that expires, and so has no period but its own.
	lookAgain = 10 * time.Minute
	// soonest and latest bound the time after which it is looked for the target, and for what that made of a
	// patch.
	soonest, latest = time.Second, time.Minute
)

// Controller is the reconcile.Controller of temporary patches and the reconcile.Patcher of their targets.
// One value serves both, since the one leaves word for the other. It is safe for concurrent use.
type Controller struct {
	manager *deploy.Manager
	kinds   []string
	options options
	schemas *schemas
	board   board
}

// New returns the Controller of patches for resources of the given kinds, each "Kind", of any group and
// version, or "group/version/Kind", or "version/Kind" of the core group; see KindsOf (spec: patches 4). The
// annotation on targets is written through manager, whose domain it has.
func New(manager *deploy.Manager, kinds []string, opts ...Option) (*Controller, error) {
	if manager == nil {
		return nil, errors.New("temporary patches: the manager is nil")
	}
	if err := checkKinds(kinds); err != nil {
		return nil, err
	}
	o, err := newOptions(manager.KeyDomain(), opts)
	if err != nil {
		return nil, err
	}
	// Whoever asked to reconcile asks again; a worker doesn't wait for that.
	return &Controller{manager: manager.With(deploy.RetryFor(0)), kinds: slices.Clone(kinds), options: o, schemas: newSchemas()}, nil
}

// Kind implements reconcile.Controller.
func (c *Controller) Kind() schema.GroupVersionKind { return c.options.kind }

// Setup implements reconcile.Controller: the component temporarypatch keeps the entry on the target (spec:
// patches 6). What is wrong with the patch is an error that reconcile.Configuration makes.
func (c *Controller) Setup(_ context.Context, s *reconcile.Session) error {
	patch, _, err := decode(s.Resource())
	if err != nil {
		return reconcile.Configuration("%w", err)
	}
	if err := c.checkTarget(patch.Spec); err != nil {
		return err
	}
	s.Use(componentName, &component{controller: c, patch: patch})
	return nil
}

// Finalize implements reconcile.Finalizer: the entry is taken off the target (spec: patches 7, 12). It
// doesn't wait until the target has been rendered without it (spec: patches mistake 15).
func (c *Controller) Finalize(ctx context.Context, s *reconcile.Session) error {
	resource := s.Resource()
	spec, _, err := unstructured.NestedMap(resource.Object, "spec")
	if err != nil {
		return nil //nolint:nilerr // it never named a target
	}
	var named TemporaryPatchSpec
	named.APIVersion, _ = spec["apiVersion"].(string)
	named.Kind, _ = spec["kind"].(string)
	named.Name, _ = spec["name"].(string)
	if named.APIVersion == "" || named.Name == "" || !c.patchable(named) {
		return nil
	}
	target, err := c.target(ctx, s, named)
	var unknown *deploy.KindUnknownError
	if errors.As(err, &unknown) || err == nil && target == nil || s.DryRun() {
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

// Requeue implements reconcile.Requeuer: in time for the expiry, and sooner while it isn't known what the
// target made of the patch.
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
	// It may have expired after this reconcile looked: the next one says so, and then there is nothing left.
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

// target reads the resource that a patch names, nil if there is none (spec: patches 10).
func (c *Controller) target(ctx context.Context, s *reconcile.Session, spec TemporaryPatchSpec) (*unstructured.Unstructured, error) {
	ref, err := targetOf(s, spec)
	if err != nil {
		return nil, err
	}
	target, err := s.Get(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("target %s: %w", ref, err)
	}
	return target, nil
}

// follow has the patch reconciled when its target comes, changes or goes.
func (c *Controller) follow(ctx context.Context, s *reconcile.Session, spec TemporaryPatchSpec) error {
	ref, err := targetOf(s, spec)
	if err != nil {
		return err
	}
	if err := s.Follow(ctx, ref); err != nil {
		return fmt.Errorf("target %s: %w", ref, err)
	}
	return nil
}

func targetOf(s *reconcile.Session, spec TemporaryPatchSpec) (deploy.Ref, error) {
	version, err := schema.ParseGroupVersion(spec.APIVersion)
	if err != nil {
		return deploy.Ref{}, reconcile.Configuration("spec.apiVersion: %w", err)
	}
	return deploy.Ref{Kind: version.WithKind(spec.Kind), Namespace: s.Namespace(), Name: spec.Name}, nil
}

// saysExpired tells whether the status says so already.
func saysExpired(resource *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(resource.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(condition any) bool {
		said, _ := condition.(map[string]any)
		return said["reason"] == ReasonExpired
	})
}

func expired(patch *TemporaryPatch, now time.Time) bool {
	return patch.Spec.ExpiresAt != nil && !now.Before(patch.Spec.ExpiresAt.Time)
}

func (c *Controller) logger(resource *unstructured.Unstructured) *slog.Logger {
	return c.options.logger.With("object", deploy.RefOf(resource))
}
