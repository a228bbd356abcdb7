package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Component is a named set of objects that are deployed together, in their order, and are
// ready together. It belongs to one session.
type Component struct {
	name     string
	session  *Session
	objects  []*Object
	taken    map[string]bool // their names, once there are many
	builder  Builder
	disabled bool
	// removed: Finalize has called Remove.
	removed   bool
	upstreams []*upstream
	// mistakes are errors in how the component was described.
	mistakes  []error
	rendering rendering
	// results are those of its objects so far.
	results deploy.Results
	// remark is what the last verification found unusual about objects that are ready.
	remark atomic.Pointer[string]
}

// fail records a mistake. It ends the reconcile after Setup; a mistake of a Builder fails the component.
func (c *Component) fail(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Errorf(format, args...))
}

// upstream is a component that another one waits for.
type upstream struct {
	component *Component
	gates     []Gate
	// closed: a gate was closed when it was asked last.
	closed bool
}

// Gate is a condition on a component that another one waits for, beside its deployment. It is asked again while the
// session has work under way. false leaves the waiting component for a later reconcile; an error is the waiting
// component's. Gates of different components are asked at the same time. In a dry run gates are open.
type Gate func(ctx context.Context, upstream *Component) (bool, error)

// Deployed is the Gate that is always open: the waiting component follows as soon as upstream is deployed.
func Deployed(context.Context, *Component) (bool, error) { return true, nil }

// Ready is the Gate that opens when upstream is ready: every object of it, or what its Verify reports. It stays closed
// if upstream has failed, which is no failure of the waiting component. An error means that the cluster couldn't be
// read, or that it passes (request.Passing).
func Ready(ctx context.Context, upstream *Component) (bool, error) {
	if verifier, ok := upstream.builder.(Verifier); ok {
		err := guarded(func() error { return verifier.Verify(ctx, upstream.session, upstream) })
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

// After has c deployed after other, when all gates are open, including those of an earlier call for the same component.
// A cycle ends the reconcile with an error that names its components.
func (c *Component) After(other *Component, gates ...Gate) *Component {
	if c.session.rejectLate("%s is told what to wait for when the rollout has begun: say it in Setup or Finalize", c.name) {
		return c
	}
	if other == nil {
		c.fail("waits for a component that is nil")
		return c
	}
	if slices.ContainsFunc(gates, func(gate Gate) bool { return gate == nil }) {
		c.fail("waits for %s with a gate that is nil", other.name)
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

// Disable has the objects of the component deleted instead of applied; objects of somebody else are left alone. A
// disabled component waits for none, and none may wait for it.
func (c *Component) Disable() *Component {
	if c.session.rejectLate("%s is disabled when the rollout has begun: do it in Setup or Finalize", c.name) {
		return c
	}
	c.disabled = true
	return c
}

// Disabled reports whether Disable was called.
func (c *Component) Disabled() bool { return c.disabled }

// Objects returns the objects as they are deployed, in that order, once the component was rendered; before that as they
// were added. They are shared: copy them before you change them.
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

// open asks the gates in their order, up to the first that is closed.
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

// objectIndex finds objects that are rendered twice: each component would undo what the other one wrote. The versions
// of a kind are the same objects.
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

// expect makes room for n objects. Those of components that were rendered before the rollout stay.
func (l *objectIndex) expect(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.holders) == 0 {
		l.holders = make(map[identity]*Object, n)
	}
}

// register records the object that o is rendered as, in place of an earlier one. The error names the component that
// renders it already. An object without a name isn't recorded.
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
		return fmt.Errorf("%s is in it twice", ref)
	default:
		return fmt.Errorf("%s is in component %s already: leave it out of one", ref, holder.component.name)
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
