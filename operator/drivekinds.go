package operator

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
)

// DriveKinds is Drive for kinds that are found at run time: each kind that selector matches has a reconciler as long as
// the cluster serves the kind. The kinds of Drive and Control and the kind TemporaryPatch are left out. build is called
// each time a kind comes. If it fails, it is called again within a minute, or when the kinds change. verbs are what
// reconcilers do with the resources besides "list" and "watch": a kind without one of them is left out. See package
// kinds.
//
// The operator needs the rights for all kinds that it finds: while it lacks the right to read one of them, it isn't
// ready. With the right to list and watch CustomResourceDefinitions it finds a new kind at once; without it, the
// operator asks for new kinds every 5 seconds. The setting controllers, the option Reconciles and temporary patches
// don't apply to these kinds; kinds.Selector has Options in the place of Reconciles. An operator that calls DriveKinds
// adopts no objects by their owner label after a restore, not even for the kinds of Drive and Control (see
// deploy.UnknownOwnerKinds).
//
// If the selector depends on something that a function of Startup loads, other commands than run need the option
// Prepare. The command release asks selector for finalizers (kinds.Selector.Finalizers) or, without that function, a
// reconciler that build has made for this and that doesn't run.
func (o *Operator) DriveKinds(selector kinds.Selector,
	build func(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error), verbs ...string) {
	o.selected = append(o.selected, selectedKinds{selector, build, verbs})
}

// selectedKinds are kinds that DriveKinds added.
type selectedKinds struct {
	selector kinds.Selector
	build    func(ctx context.Context, env watch.Env, kind deploy.ServedKind) (watch.Reconciler, error)
	verbs    []string
}

func (k selectedKinds) check() error {
	if k.build == nil {
		return errors.New("DriveKinds: nil function: pass a function that makes a reconciler")
	}
	if err := k.selector.Check(); err != nil {
		return fmt.Errorf("DriveKinds: %w", err)
	}
	return nil
}

// selectors returns what DriveKinds selects: not the kinds of the operator's controllers, nor that of temporary
// patches.
func (o *Operator) selectors() (all []kinds.Selector) {
	for _, k := range o.selected {
		selector, where := k.selector, k.selector.Where
		selector.Where = func(kind deploy.ServedKind) bool {
			isControlled := func(c controller) bool { return c.kind.GroupKind() == kind.Kind.GroupKind() }
			if kind.Kind.GroupKind() == temporarypatch.DefaultKind.GroupKind() {
				return false
			}
			return !slices.ContainsFunc(o.controllers, isControlled) && (where == nil || where(kind))
		}
		all = append(all, selector)
	}
	return all
}

// driverServices are the services that start and end reconcilers of kinds that are found at run time.
func (r *runner) driverServices(engine *watch.Engine, manager *deploy.Manager) (all []service) {
	for i, selector := range r.operator.selectors() {
		k := r.operator.selected[i]
		driver := kinds.Driver{
			View: r.api.View(), Engine: engine, Select: selector, Verbs: k.verbs, Logger: r.logger,
			Options: r.givenEngineOptions(),
			New: func(ctx context.Context, kind deploy.ServedKind) (watch.Reconciler, error) {
				return r.driveKind(ctx, k, kind, manager)
			},
			Ended: r.metrics.Released,
		}
		all = append(all, service{"kinds", driver.Run})
	}
	return all
}

// driveKind makes the reconciler of a kind that was found at run time.
func (r *runner) driveKind(ctx context.Context, k selectedKinds, kind deploy.ServedKind, manager *deploy.Manager) (watch.Reconciler, error) {
	reconciler, err := made(r.logger, "the function of DriveKinds", func() (watch.Reconciler, error) { return k.build(ctx, r.env(manager), kind) })
	if err != nil {
		return nil, err
	}
	counted, err := standing.Of(reconciler)
	if err != nil {
		return nil, err
	}
	if counted != nil {
		r.metrics.Resources(kind.Kind, counted)
	}
	return r.locked(reconciler, manager)
}
