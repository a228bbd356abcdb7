package operator

import (
	"context"
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"github.com/operkit/operkit/reconcile/watch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// patchWorkers is how many patches are reconciled at once. Few are enough, because each needs only a write or two.
const patchWorkers = 2

// newPatches returns the controller of temporary patches for the operator's kinds with components, and for more, or nil
// if there are none or patches are switched off.
func (o *Operator) newPatches(manager *deploy.Manager, more ...schema.GroupVersionKind) (*temporarypatch.Controller, error) {
	patched := temporarypatch.KindsOf(o.sessions()...)
	for _, kind := range more {
		patched = append(patched, kind.GroupVersion().String()+"/"+kind.Kind)
	}
	if o.patchesOff || len(patched) == 0 {
		return nil, nil
	}
	patches, err := temporarypatch.New(manager, patched, o.patches...)
	if err != nil {
		return nil, err
	}
	for _, c := range o.controllers {
		if c.kind.GroupKind() == patches.Kind().GroupKind() {
			return nil, fmt.Errorf("%s: has a reconciler already, because the operator itself serves temporary patches: pass the option WithoutTemporaryPatches to New", c.kind)
		}
	}
	return patches, nil
}

// patchedBy returns the options of reconcilers whose resources can be patched.
func patchedBy(patches *temporarypatch.Controller) []reconcile.Option {
	if patches == nil {
		return nil
	}
	return []reconcile.Option{reconcile.WithPatches(patches)}
}

// patchService serves temporary patches with an engine of its own, so that problems with patches don't delay the
// operator's kinds. A nil patchService does nothing.
type patchService struct {
	engine       *watch.Engine
	availability *availability
}

func (r *runner) newPatchService(patches *temporarypatch.Controller, manager *deploy.Manager) (*patchService, error) {
	if patches == nil {
		return nil, nil
	}
	engine, err := watch.New(manager.View(), append(r.engineOptions(), watch.Workers(patchWorkers))...)
	if err != nil {
		return nil, err
	}
	options := append(r.defaultOptions(), reconcile.WithWatcher(engine))
	if r.events != nil {
		options = append(options, reconcile.Events(r.events))
	}
	reconciler, err := patches.Reconciler(options...)
	if err != nil {
		return nil, err
	}
	r.metrics.Engine(engine)
	r.metrics.Resources(patches.Kind(), reconciler)
	if err := r.control(engine, patches.Kind(), reconciler, manager); err != nil {
		return nil, fmt.Errorf("temporary patches: %w", err)
	}
	definition, err := temporarypatch.CRD(temporarypatch.As(patches.Kind()))
	if err != nil {
		return nil, err
	}
	reviews, err := dynamic.NewForConfig(r.client)
	if err != nil {
		return nil, fmt.Errorf("temporary patches: %w", err)
	}
	watched := newNamespaces(r.Watch)
	namespaces := watched.named()
	if len(namespaces) == 0 {
		namespaces = []string{metav1.NamespaceAll}
	}
	plural, _, _ := strings.Cut(definition.GetName(), ".")
	return &patchService{engine, &availability{
		kind: patches.Kind(), resource: plural, namespaces: namespaces, port: manager.Port(), reviews: reviews.Resource(accessReviews), logger: r.logger,
	}}, nil
}

// run serves patches as soon as they are available, until ctx ends.
func (s *patchService) run(ctx context.Context, h *health) error {
	if s == nil || !s.availability.await(ctx) {
		return nil
	}
	h.works(s.engine)
	return s.engine.Run(ctx)
}
