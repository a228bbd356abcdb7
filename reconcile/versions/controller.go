package versions

import (
	"context"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// controller reconciles the resources of a kind, each resource by the version that the resource names.
type controller struct {
	pool  *Pool
	union *union
}

// finalizing is a controller of a kind for which at least one version has a Finalize. The resources of the kind carry
// the finalizer.
type finalizing struct{ controller }

// controllerOf adds the methods that the declarations of the versions need.
func controllerOf(c controller) reconcile.Controller {
	declared := &c.union.declared
	switch {
	case declared.finalizes && len(declared.conditions) > 0:
		return &struct {
			finalizing
			reconcile.ConditionDeclarer
		}{finalizing{c}, declared}
	case declared.finalizes:
		return &finalizing{c}
	case len(declared.conditions) > 0:
		return &struct {
			controller
			reconcile.ConditionDeclarer
		}{c, declared}
	}
	return &c
}

// Kind implements reconcile.Controller.
func (c *controller) Kind() schema.GroupVersionKind { return c.union.kind }

// Scope implements reconcile.Scoper.
func (c *controller) Scope() deploy.Scope { return c.union.scope }

// Sources implements source.Provider.
func (c *controller) Sources() source.Sources { return c.union.sources }

// Setup implements reconcile.Controller.
func (c *controller) Setup(ctx context.Context, s *reconcile.Session) error {
	one, described, err := c.begin(ctx, s)
	if err != nil {
		return err
	}
	return one.add(described)
}

// hooked returns the version's session, on which hook can be called, nil if the version doesn't have the hook.
func (c *controller) hooked(s *reconcile.Session, hook string) *session {
	c.pool.mu.Lock()
	one := c.pool.sessions[s.ID()]
	c.pool.mu.Unlock()
	if one == nil {
		return nil
	}
	if ruled := one.process.declaration.ControlledKind(wire.NewKind(c.union.kind)); ruled == nil || !slices.Contains(ruled.Hooks, hook) {
		return nil
	}
	return one
}

// hook calls a hook of the version, if it has the hook.
func (c *controller) hook(ctx context.Context, s *reconcile.Session, hook string, o reconcile.Outcome) (answer wire.HookAnswer, err error) {
	one := c.hooked(s, hook)
	if one == nil {
		return answer, nil
	}
	err = one.call(ctx, wire.Hook, wire.HookCall{Session: s.ID(), Hook: hook, Outcome: wire.NewOutcome(o)}, &answer)
	return answer, err
}

// AfterDeploy implements reconcile.AfterDeployer.
func (c *controller) AfterDeploy(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	_, err := c.hook(ctx, s, wire.AfterDeploy, o)
	return err
}

// AfterVerify implements reconcile.AfterVerifier.
func (c *controller) AfterVerify(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	_, err := c.hook(ctx, s, wire.AfterVerify, o)
	return err
}

// AfterIncomplete implements reconcile.AfterIncompleter.
func (c *controller) AfterIncomplete(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) error {
	_, err := c.hook(ctx, s, wire.AfterIncomplete, o)
	return err
}

// Exhausted implements reconcile.Exhauster.
func (c *controller) Exhausted(ctx context.Context, s *reconcile.Session, err error) error {
	one := c.hooked(s, wire.Exhausted)
	if one == nil {
		return nil
	}
	return one.call(ctx, wire.Hook, wire.HookCall{Session: s.ID(), Hook: wire.Exhausted, Given: wire.NewProblem(err)}, nil)
}

// Requeue implements reconcile.Requeuer.
func (c *controller) Requeue(ctx context.Context, s *reconcile.Session, o reconcile.Outcome) (time.Duration, error) {
	answer, err := c.hook(ctx, s, wire.Requeue, o)
	return time.Duration(answer.After), err
}

// Finalize implements reconcile.Finalizer. If the version of a resource has no Finalize, this method returns nil
// immediately.
func (c *finalizing) Finalize(ctx context.Context, s *reconcile.Session) error {
	one, _, err := c.begin(ctx, s)
	if err != nil {
		return err
	}
	answer, err := c.hook(ctx, s, wire.Finalize, reconcile.Outcome{})
	if err != nil || answer.Described == nil {
		return err
	}
	return one.add(answer.Described)
}
