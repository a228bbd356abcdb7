package reconciletest

import (
	"context"
	"errors"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
)

// patching is how temporary patches are served; nil: they aren't.
type patching struct{ *temporarypatch.Controller }

// newPatching returns what serves patches in the cluster of manager, nil if the test has none.
func (h *Harness) newPatching(manager *deploy.Manager) (*patching, error) {
	if !h.options.patched {
		return nil, nil
	}
	for _, controller := range h.controllers {
		if controller == nil {
			return nil, errors.New("controller: is nil")
		}
	}
	controller, err := temporarypatch.New(manager, temporarypatch.KindsOf(h.controllers...), slices.Concat(
		[]temporarypatch.Option{temporarypatch.Logger(h.logger())}, h.options.patches, []temporarypatch.Option{temporarypatch.Clock(h.clock.now)})...)
	if err != nil {
		return nil, err
	}
	return &patching{controller}, nil
}

// options are for the reconcilers of resources that can be patched.
func (p *patching) options() []reconcile.Option {
	if p == nil {
		return nil
	}
	return []reconcile.Option{reconcile.WithPatches(p)}
}

// reconciler returns that of the patches themselves, once their definition is there. memory is nil for a real cluster.
func (p *patching) reconciler(ctx context.Context, memory *dryrun.Cluster, options []reconcile.Option) (reconciler, error) {
	own, err := p.Reconciler(options...)
	if err != nil || memory == nil {
		return own, err
	}
	crd, err := temporarypatch.CRD(temporarypatch.As(p.Kind()))
	if err != nil {
		return nil, err
	}
	_, err = memory.Port().Create(ctx, crd, deploy.CreateOptions{FieldManager: FieldManager})
	var exists *deploy.AlreadyExistsError
	if errors.As(err, &exists) { // from before a restart, or the test's own
		err = nil
	}
	return own, err
}
