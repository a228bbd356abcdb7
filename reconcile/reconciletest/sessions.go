package reconciletest

import (
	"context"
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
)

// sessions makes the reconcilers of controllers of sessions. What a harness offers for these alone is here and in
// render.go (components as files) and fault.go (errors in phases of components).
type sessions struct {
	*Harness
	patches *patchService
}

func (h *Harness) newSessions() (*sessions, error) {
	h.t.Helper()
	patches, err := h.newPatching(h.newManager())
	return &sessions{h, patches}, err
}

// reconciler returns the reconciler of a controller.
func (s *sessions) reconciler(controller reconcile.Controller) (watch.Reconciler, error) {
	return reconcile.New(controller, s.newManager(), s.setup(append(slices.Clone(s.options.reconciler), s.patches.options()...)...)...)
}

// drivePatches adds the reconciler of temporary patches, if the test has enabled them.
func (s *sessions) drivePatches() error {
	if s.patches == nil {
		return nil
	}
	reconciler, err := s.patches.reconciler(s.t.Context(), s.memory, s.setup())
	if err != nil {
		return fmt.Errorf("temporary patches: %w", err)
	}
	return s.drive(reconciler.Kind(), reconciler, "temporary patches")
}

// setup returns the options of the harness around the options of the test.
func (s *sessions) setup(tests ...reconcile.Option) []reconcile.Option {
	first := []reconcile.Option{reconcile.Logger(s.logger()), reconcile.Events(s.options.sink)}
	if s.memory != nil {
		first = append(first, reconcile.StartAfter(0))
	}
	return slices.Concat(first, tests, []reconcile.Option{
		reconcile.Clock(s.clock.now), reconcile.WithWatcher(s.events),
		// The recorder comes last, so that it sees the objects that the other patches return.
		reconcile.WithPatches(recorder{s.faults}), reconcile.ObserveComponents(s.faults.observer), reconcile.AroundComponents(ofComponent),
	})
}

// controllerOf returns the controller of sessions of a resource.
func (h *Harness) controllerOf(ref deploy.Ref) (reconcile.Controller, error) {
	for _, t := range h.tested {
		switch {
		case t.kind != ref.Kind:
		case t.sessions == nil:
			return nil, fmt.Errorf("a %s has no components: this needs a controller of sessions, see New", ref.Kind.Kind)
		default:
			return t.sessions, nil
		}
	}
	return nil, fmt.Errorf("no controller of the test is for the kind %s", ref.Kind.Kind)
}

// checkSessions returns an error if the test has no controller of sessions.
func (h *Harness) checkSessions() error {
	for _, t := range h.tested {
		if t.sessions != nil {
			return nil
		}
	}
	return fmt.Errorf("no kind of the test has components: this needs a controller of sessions, see New; to make requests fail, use Memory().Fail")
}

// patchService serves temporary patches; nil if the test hasn't enabled them.
type patchService struct{ *temporarypatch.Controller }

// newPatching returns the patchService for the cluster of manager, nil if the test hasn't enabled temporary patches.
func (h *Harness) newPatching(manager *deploy.Manager) (*patchService, error) {
	if !h.options.patched {
		return nil, nil
	}
	var patched []string
	for _, t := range h.tested {
		if t.sessions != nil {
			patched = append(patched, temporarypatch.KindsOf(t.sessions)...)
		} else {
			patched = append(patched, t.kind.GroupVersion().String()+"/"+t.kind.Kind)
		}
	}
	controller, err := temporarypatch.New(manager, patched, append(slices.Clone(h.options.patches), temporarypatch.Clock(h.clock.now))...)
	if err != nil {
		return nil, err
	}
	return &patchService{controller}, nil
}

// options are the options for reconcilers of resources that can be patched.
func (p *patchService) options() []reconcile.Option {
	if p == nil {
		return nil
	}
	return []reconcile.Option{reconcile.WithPatches(p)}
}

// patcher returns the Patcher for reconcilers of other styles, nil if the test hasn't enabled temporary patches.
func (p *patchService) patcher() patching.Patcher {
	if p == nil {
		return nil
	}
	return p.Controller
}

// reconciler returns the reconciler of the patches themselves. In memory it first creates the CustomResourceDefinition
// of the patches; memory is nil for a real cluster.
func (p *patchService) reconciler(ctx context.Context, memory *dryrun.Cluster, options []reconcile.Option) (*temporarypatch.Reconciler, error) {
	own, err := p.Reconciler(options...)
	if err != nil || memory == nil {
		return own, err
	}
	crd, err := temporarypatch.CRD(temporarypatch.As(p.Kind()))
	if err != nil {
		return nil, err
	}
	_, err = memory.Port().Create(ctx, crd, deploy.CreateOptions{FieldManager: FieldManager})
	if failure.Is[*deploy.AlreadyExistsError](err) { // created before a restart, or by the test
		err = nil
	}
	return own, err
}
