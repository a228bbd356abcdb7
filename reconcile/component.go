package reconcile

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/lifecycle"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Component is a named set of objects that are deployed together, in their order, and are
// ready together. It belongs to one session.
type Component struct {
	name     string
	session  *Session
	objects  []*Object
	taken    map[string]bool // the names of the objects, once there are more than fewObjects
	builder  Builder
	disabled bool
	// removed: Finalize has called Remove on the component.
	removed   bool
	upstreams []*upstream
	// mistakes are errors in how the component was described.
	mistakes  []error
	rendering rendering
	// results are the results of the objects that were deployed or deleted so far.
	results deploy.Results
	// remark is a string: what the last verification found unusual about ready objects.
	remark atomic.Value
}

// fail records a mistake. A mistake in Setup ends the reconcile after Setup, a mistake of a Builder fails the
// component.
func (c *Component) fail(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Errorf(format, args...))
}

// upstream is a component that another one waits for.
type upstream struct {
	component *Component
	gates     []Gate
	// closed: a gate was closed when it was last called.
	closed bool
}

// Gate reports whether a component that waits for upstream may be deployed. It is called once upstream is deployed, and
// again while the session deploys other components. If it keeps returning false, the waiting component is left for a
// later reconcile; an error fails the waiting component. Gates of different components are called concurrently. In a
// dry run gates are open and aren't called, except by Reconciler.Plan without OpenGates.
type Gate func(ctx context.Context, upstream *Component) (bool, error)

// Deployed is the Gate that is always open: the waiting component follows as soon as upstream is deployed.
func Deployed(context.Context, *Component) (bool, error) { return true, nil }

// Ready is the Gate that opens when upstream is ready: when every object of upstream is ready, or when its Verify
// returns nil. It stays closed if upstream has failed, which doesn't fail the waiting component. Ready returns an error
// only if the cluster couldn't be read, or if the error is temporary (request.Passing).
func Ready(ctx context.Context, upstream *Component) (bool, error) {
	if verifier, ok := upstream.builder.(Verifier); ok {
		err := failure.Guard(func() error { return verifier.Verify(ctx, upstream.session, upstream) })
		if lifecycle.Temporary(err) {
			return false, err
		}
		return err == nil, nil
	}
	verdict, err := upstream.session.verify(ctx, upstream)
	return err == nil && verdict.ready(), err
}

// Name returns the name under which the component was added.
func (c *Component) Name() string { return c.name }

// Session returns the reconcile that the component is part of.
func (c *Component) Session() *Session { return c.session }

// After deploys c after other, when all gates are open, including the gates of earlier calls for other. A cycle ends
// the reconcile with an error that names its components.
func (c *Component) After(other *Component, gates ...Gate) *Component {
	if c.session.rejectLate("After of %s is called when the rollout has begun: call it in Setup or Finalize", c.name) {
		return c
	}
	if other == nil {
		c.fail("waits for a nil component")
		return c
	}
	if slices.ContainsFunc(gates, func(gate Gate) bool { return gate == nil }) {
		c.fail("waits for %s with a nil gate", other.name)
		return c
	}
	for _, up := range c.upstreams {
		if up.component == other {
			up.gates = append(up.gates, gates...)
			return c
		}
	}
	c.upstreams = append(c.upstreams, &upstream{component: other, gates: slices.Clone(gates)})
	return c
}

// Disable deletes the objects of the component instead of applying them; objects with another owner are left alone. A
// disabled component waits for no other component, and no component may wait for it.
func (c *Component) Disable() *Component {
	if c.session.rejectLate("Disable of %s is called when the rollout has begun: call it in Setup or Finalize", c.name) {
		return c
	}
	c.disabled = true
	return c
}

// Disabled reports whether Disable was called.
func (c *Component) Disabled() bool { return c.disabled }

// Objects returns the objects of the component. After rendering, the objects have the content and the order in which
// they are deployed; before that they are as they were added. The objects are shared: copy them before you change them.
func (c *Component) Objects() []*unstructured.Unstructured {
	if finished := c.rendering.finished.Load(); finished != nil {
		return slices.Clip(finished.contents)
	}
	objects := make([]*unstructured.Unstructured, len(c.objects))
	for i, o := range c.objects {
		objects[i] = o.content
	}
	return objects
}

// kinds returns the kinds of the objects, each once.
func (c *Component) kinds() []schema.GroupVersionKind {
	if finished := c.rendering.finished.Load(); finished != nil {
		return finished.kinds
	}
	var kinds []schema.GroupVersionKind
	for _, o := range c.objects {
		kinds = withKinds(kinds, o.ref.Kind)
	}
	return kinds
}

// open calls the gates in order, up to the first closed one. It reports whether all are open.
func (up *upstream) open(ctx context.Context) (bool, error) {
	for _, gate := range up.gates {
		open, err := gate(ctx, up.component)
		if err != nil {
			return false, fmt.Errorf("gate on component %s: %w", up.component.name, err)
		}
		if up.closed = !open; up.closed {
			return false, nil
		}
	}
	return true, nil
}

// waiting describes the gate that c waits for, empty for none.
func (c *Component) waiting() string {
	for _, up := range c.upstreams {
		if up.closed {
			return "waits for " + up.component.name + " (its gate is closed)"
		}
	}
	return ""
}

// Builder is a component implemented as a type, see Session.Use. It may have more methods, each an interface of its
// own:
//
//	Deployer  Deploy   deploys the component, instead of Component.Apply
//	Verifier  Verify   reports whether the component is ready
//	Disabler  Disable  removes a disabled component, instead of Component.Remove
//	Reviser   Revise   changes each object before it is deployed
//
// Use refuses a builder that has a method with one of these names and another signature.
type Builder interface {
	// Build adds the objects to c. It is called once per reconcile, when the component is about to be deployed, so it
	// can read the components that it waits for (Component.After). It is called for a disabled component too; the
	// objects are then removed. For the same resource it must always add the same objects. An error fails the
	// component.
	Build(ctx context.Context, s *Session, c *Component) error
}

// Deployer is a Builder that deploys its component itself, instead of by Component.Apply. request.Precondition makes
// the component wait.
type Deployer interface {
	Deploy(ctx context.Context, s *Session, c *Component) error
}

// Verifier is a Builder that decides whether its component is ready, instead of Component.Verify: nil means ready,
// request.Precondition names what the component waits for, and any other error means that the component has failed.
// Verify isn't called in a dry run.
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
