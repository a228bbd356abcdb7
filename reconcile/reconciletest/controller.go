package reconciletest

import (
	"context"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
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
		if copied, err := plain(spec); err == nil { // else Apply says what is wrong with it
			obj.Object["spec"] = copied
		}
	}
	return obj
}
