package operator

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// patchWorkers is how many patches are reconciled at once: each is a write or two.
const patchWorkers = 2

// patchSettings are what the options say of temporary patches.
type patchSettings struct {
	off     bool
	options []temporarypatch.Option
}

// WithoutTemporaryPatches has the operator know nothing of temporary patches: none is watched, no right to them is
// needed, and what is recorded of them on resources is ignored. Without this option an operator serves them for all
// kinds that it controls, once their definition is in the cluster (spec: patches mistake 1).
func WithoutTemporaryPatches() Option { return func(o *Operator) { o.patches.off = true } }

// TemporaryPatches sets how temporary patches are served, such as temporarypatch.As for another kind of them (spec:
// patches 9). Several options add up.
func TemporaryPatches(options ...temporarypatch.Option) Option {
	return func(o *Operator) { o.patches.options = append(o.patches.options, options...) }
}

// newPatches returns the controller of temporary patches for the operator's kinds, nil when they are switched off.
func (o *Operator) newPatches(manager *deploy.Manager, logger *slog.Logger) (*temporarypatch.Controller, error) {
	if o.patches.off {
		return nil, nil
	}
	controllers := make([]reconcile.Controller, len(o.controllers))
	for i, c := range o.controllers {
		controllers[i] = c.Controller
	}
	options := append([]temporarypatch.Option{temporarypatch.Logger(logger)}, o.patches.options...)
	patches, err := temporarypatch.New(manager, temporarypatch.KindsOf(controllers...), options...)
	if err != nil {
		return nil, err
	}
	for _, c := range controllers {
		if c.Kind().GroupKind() == patches.Kind().GroupKind() {
			return nil, fmt.Errorf("%s: has a reconciler already, since the operator serves temporary patches by itself: give New the option WithoutTemporaryPatches", c.Kind())
		}
	}
	return patches, nil
}

// patchedBy are the options of a controller whose resources can be patched. What a person patches comes last.
func patchedBy(patches *temporarypatch.Controller, options []reconcile.Option) []reconcile.Option {
	if patches == nil {
		return options
	}
	return append(options, reconcile.WithPatches(patches))
}

// patchService serves temporary patches beside the operator's kinds, by an engine of its own: whatever is wrong with
// the patches holds nothing else up. A nil one serves nothing.
type patchService struct {
	engine       *watch.Engine
	availability *availability
}

func (o *Operator) newPatchService(patches *temporarypatch.Controller, manager *deploy.Manager, client *rest.Config, p *process, e election) (*patchService, error) {
	if patches == nil {
		return nil, nil
	}
	engine, err := watch.New(manager.View(), append(o.engineOptions(p), watch.Workers(patchWorkers))...)
	if err != nil {
		return nil, err
	}
	reconciler, err := patches.Reconciler(slices.Concat(p.defaultOptions(), p.observing(), []reconcile.Option{reconcile.WithWatcher(engine)})...)
	if err != nil {
		return nil, err
	}
	p.metrics.Engine(engine)
	p.metrics.Reconciler(reconciler.Reconciler)
	if err := o.control(engine, patches.Kind(), reconciler, manager, p.logger, e); err != nil {
		return nil, fmt.Errorf("temporary patches: %w", err)
	}
	definition, err := temporarypatch.CRD(temporarypatch.As(patches.Kind()))
	if err != nil {
		return nil, err
	}
	reviews, err := dynamic.NewForConfig(client)
	if err != nil {
		return nil, fmt.Errorf("temporary patches: %w", err)
	}
	watched := newNamespaces(p.Watch)
	plural, _, _ := strings.Cut(definition.GetName(), ".")
	return &patchService{engine, &availability{
		kind: patches.Kind(), resource: plural, namespaces: watched.named(), port: manager.Port(), reviews: reviews.Resource(accessReviews), logger: p.logger,
	}}, nil
}

// run serves patches from when they are available on until ctx ends.
func (s *patchService) run(ctx context.Context, h *health) error {
	if s == nil || !s.availability.await(ctx) {
		return nil
	}
	h.works(s.engine)
	return s.engine.Run(ctx)
}
