package reconcile

import (
	"context"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Builder is a component implemented as a type, see Session.Use. It may have more methods, each an interface of its
// own:
//
//	Deployer  Deploy   deploys the component in a way of its own
//	Verifier  Verify   reports whether the component is ready
//	Disabler  Disable  removes a disabled component in a way of its own
//	Reviser   Revise   changes each object before it is deployed
//
// Use refuses a method of one of these names with another signature.
type Builder interface {
	// Build adds the objects to c. It is called once per reconcile, when the component is about to be deployed, so it
	// can read the components that it waits for (Component.After). It is called for a disabled component too; the
	// objects are then removed. It must do the same for the same resource. An error fails the component.
	Build(ctx context.Context, s *Session, c *Component) error
}

// Deployer is a Builder that deploys its component itself, instead of by Component.Apply. request.Precondition makes
// the component wait.
type Deployer interface {
	Deploy(ctx context.Context, s *Session, c *Component) error
}

// Verifier is a Builder that decides whether its component is ready, instead of Component.Verify: nil means ready,
// request.Precondition names what the component waits for, and any other error means that it has failed. Verify isn't
// called in a dry run.
type Verifier interface {
	Verify(ctx context.Context, s *Session, c *Component) error
}

// Disabler is a Builder that removes its component itself when the component is disabled, instead of by
// Component.Remove. nil means that nothing of the component is left.
type Disabler interface {
	Disable(ctx context.Context, s *Session, c *Component) error
}

// Reviser is a Builder that changes each of its objects after patches and annotations were added. content is a copy,
// which Revise may change.
type Reviser interface {
	Revise(ctx context.Context, s *Session, object string, content *unstructured.Unstructured) error
}

var builderMethods = []reflect.Type{
	reflect.TypeFor[Deployer](), reflect.TypeFor[Verifier](), reflect.TypeFor[Disabler](), reflect.TypeFor[Reviser](),
}

// Use adds a component that builder describes.
func (s *Session) Use(name string, builder Builder) *Component {
	c := s.component(name)
	if builder == nil {
		c.fail("nil builder")
		return c
	}
	if err := optional.Check(builder, builderMethods...); err != nil {
		c.fail("%w", err)
	}
	c.builder = builder
	return c
}
