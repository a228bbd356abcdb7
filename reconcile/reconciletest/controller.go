package reconciletest

import (
	"cmp"
	"context"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestedKind is the default kind of the controllers that Controlling and Components return.
var TestedKind = schema.GroupVersionKind{Group: "test.operkit.dev", Version: "v1", Kind: "Tested"}

// Controlling returns a controller of kind (empty: TestedKind) whose Setup is setup. Use it to test a part of a
// controller alone.
func Controlling(kind schema.GroupVersionKind, setup func(ctx context.Context, s *reconcile.Session) error) reconcile.Controller {
	return &controlling{cmp.Or(kind, TestedKind), setup}
}

// Components returns a controller of TestedKind that adds a component for each builder, under the builder's key. The
// components don't wait for each other. Use it to test components without the controller that uses them.
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
		if converted, err := plain.Map(spec); err == nil { // otherwise Apply reports the error
			obj.Object["spec"] = runtime.DeepCopyJSON(converted)
		}
	}
	return obj
}
