package reconcile

import (
	"context"

	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Builder is a component as a type of its own, see Session.Use. It may implement Deployer, Verifier,
// Disabler and Reviser too; a method of one of these names with another signature is an error.
type Builder interface {
	// Build adds the objects to c. It is called once per reconcile, when the component's turn has come, so
	// that what it waits for (Component.After) is there to be read; for a disabled one too, whose objects
	// are then removed. It must do the same for the same resource. An error is the component's.
	Build(ctx context.Context, s *Session, c *Component) error
}

// Deployer is a Builder that deploys its component in a way of its own; Component.Apply is the usual one.
// An error that Precondition makes says that it waits.
type Deployer interface {
	Deploy(ctx context.Context, s *Session, c *Component) error
}

// Verifier is a Builder that judges by itself whether its component is ready: nil says so, an error that
// Precondition makes says what it waits for, any other that it has failed. Component.Verify is the usual
// way. It isn't asked in a dry run.
type Verifier interface {
	Verify(ctx context.Context, s *Session, c *Component) error
}

// Disabler is a Builder that takes its component away in a way of its own when that is disabled;
// Component.Remove is the usual one. nil says that nothing of it is left.
type Disabler interface {
	Disable(ctx context.Context, s *Session, c *Component) error
}

// Reviser is a Builder that has the last word on each of its objects, after temporary patches and
// annotations (spec: reconcile 13). It may change content, which is a copy.
type Reviser interface {
	Revise(ctx context.Context, s *Session, object string, content *unstructured.Unstructured) error
}

// Use adds a component that builder describes.
func (s *Session) Use(name string, builder Builder) *Component {
	c := s.component(name)
	if builder == nil {
		c.fail("its builder is nil")
		return c
	}
	if err := optional.Check(builder, builderMethods...); err != nil {
		c.fail("%w", err)
	}
	c.builder = builder
	return c
}
