package reconciletest

import (
	"context"
	"errors"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/reconcile/temporarypatch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestedKind is the kind of the controllers that Controlling and Components make when they are given none.
var TestedKind = schema.GroupVersionKind{Group: "test.operkit.dev", Version: "v1", Kind: "Tested"}

// Controlling returns a controller of kind (empty: TestedKind) whose Setup is a function, to test a part of a
// controller alone.
func Controlling(kind schema.GroupVersionKind, setup func(ctx context.Context, s *reconcile.Session) error) reconcile.Controller {
	if kind.Empty() {
		kind = TestedKind
	}
	return &controlling{kind, setup}
}

// Components returns a controller of TestedKind that consists of builders by their components' names, which wait for
// nothing: to test components without the controller that uses them.
func Components(builders map[string]reconcile.Builder) reconcile.Controller {
	return Controlling(TestedKind, func(_ context.Context, s *reconcile.Session) error {
		for component, builder := range builders {
			s.Use(component, builder)
		}
		return nil
	})
}

type controlling struct {
	kind  schema.GroupVersionKind
	setup func(ctx context.Context, s *reconcile.Session) error
}

// Kind implements reconcile.Controller.
func (c *controlling) Kind() schema.GroupVersionKind { return c.kind }

// Setup implements reconcile.Controller.
func (c *controlling) Setup(ctx context.Context, s *reconcile.Session) error { return c.setup(ctx, s) }

// Resource returns a custom resource for Apply, such as one of TestedKind. spec may be nil, and is copied.
func Resource(kind schema.GroupVersionKind, name string, spec map[string]any) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetName(name)
	if spec != nil {
		obj.Object["spec"] = spec
		if converted, err := plain.Map(spec); err == nil { // else Apply reports what is wrong with it
			obj.Object["spec"] = runtime.DeepCopyJSON(converted)
		}
	}
	return obj
}

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
