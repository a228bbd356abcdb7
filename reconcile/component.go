package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
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
	// removed: Finalize has called Remove.
	removed   bool
	upstreams []*upstream
	// mistakes are errors in how the component was described.
	mistakes  []error
	rendering rendering
	// results are the results of the objects so far.
	results deploy.Results
	// remark is a string: what the last verification found unusual about ready objects.
	remark atomic.Value
}

// fail records a mistake. It ends the reconcile after Setup; a mistake of a Builder fails the component.
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
// again while the session deploys other components. If it stays false, the waiting component is left for a later
// reconcile; an error fails the waiting component. Gates of different components are called concurrently. In a dry run
// gates are open and aren't called.
type Gate func(ctx context.Context, upstream *Component) (bool, error)

// Deployed is the Gate that is always open: the waiting component follows as soon as upstream is deployed.
func Deployed(context.Context, *Component) (bool, error) { return true, nil }

// Ready is the Gate that opens when upstream is ready: every object of it, or what its Verify reports. It stays closed
// if upstream has failed; the waiting component hasn't failed by that. Ready returns an error only if the cluster
// couldn't be read, or if the error is temporary (request.Passing).
func Ready(ctx context.Context, upstream *Component) (bool, error) {
	if verifier, ok := upstream.builder.(Verifier); ok {
		err := failure.Guard(func() error { return verifier.Verify(ctx, upstream.session, upstream) })
		if isTemporary(err) {
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

// After deploys c after other, once all gates are open, including the gates of an earlier call for the same component.
// A cycle ends the reconcile with an error that names its components.
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

// Objects returns the objects of the component. Once it was rendered, they have the content and the order in which they
// are deployed; before that they are as they were added. They are shared: copy them before you change them.
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

// open calls the gates in order, up to the first that is closed.
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

// objectIndex finds objects that two components render: each would undo what the other wrote. The version of a kind
// doesn't count.
type objectIndex struct {
	mu      sync.Mutex
	holders map[identity]*Object
}

type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

func (s *Session) identityOf(ref deploy.Ref) identity {
	return identity{ref.Kind.GroupKind(), cmp.Or(ref.Namespace, s.home), ref.Name}
}

// register records the identity under which o is rendered, and replaces an earlier record of o. The error names the
// component that already renders this object. An object without a name isn't recorded.
func (s *Session) register(o *Object, ref deploy.Ref) error {
	if ref == o.ref && o.registered.name != "" {
		return nil // it was registered when it was added
	}
	l, id := &s.index, s.identityOf(ref)
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.registered != id && o.registered.name != "" {
		delete(l.holders, o.registered)
		o.registered = identity{}
	}
	if id.name == "" {
		return nil
	}
	switch holder := l.holders[id]; {
	case holder == nil:
		if l.holders == nil {
			l.holders = map[identity]*Object{}
		}
		l.holders[id], o.registered = o, id
		return nil
	case holder == o:
		return nil
	case holder.component == o.component:
		return fmt.Errorf("%s was added twice", ref)
	default:
		return fmt.Errorf("%s is in component %s already: remove it from one of them", ref, holder.component.name)
	}
}

// release forgets the objects.
func (l *objectIndex) release(objects []*Object) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range objects {
		if l.holders[o.registered] == o {
			delete(l.holders, o.registered)
		}
	}
}

// wanted reports whether an enabled component renders an object.
func (l *objectIndex) wanted(id identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	holder := l.holders[id]
	return holder != nil && !holder.component.disabled
}
