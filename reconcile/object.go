package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/render"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Object is one object of a component. Its name is unique in the component: logs, errors and temporary patches call it
// "<component>.<object>", its internal name.
type Object struct {
	component *Component
	name      string
	content   *unstructured.Unstructured
	ref       deploy.Ref // of content
	after     []*Object
	judge     Judge
	strategy  deploy.Strategy
	// finished: it is deployed as it was added.
	finished bool
	// deferred returns the content; content is a stand-in then.
	deferred func(ctx context.Context) (*unstructured.Unstructured, error)
	// registered is the object that it is rendered as.
	registered identity
}

// Judge decides whether an object is ready: nil means ready, request.Precondition not yet, any other error that it has
// failed. live is the object in the cluster. It is shared: don't change it.
type Judge func(ctx context.Context, live *unstructured.Unstructured) error

// ObjectOption sets what is rarely set for an object.
type ObjectOption func(*Object)

// ReadyWhen has judge decide whether the object is ready, instead of package readiness.
func ReadyWhen(judge Judge) ObjectOption { return func(o *Object) { o.judge = judge } }

// By sets how the object is written, see deploy.Strategy; default deploy.ServerSideApply.
func By(strategy deploy.Strategy) ObjectOption { return func(o *Object) { o.strategy = strategy } }

// Finished has the object deployed as it was added, without patches, NameObjects, By and Revise. It is for objects that
// somebody else has rendered.
func Finished() ObjectOption { return func(o *Object) { o.finished = true } }

// Add adds an object, in one of the forms that Session.Add takes, under a name of its own. Objects are deployed in the
// order in which they were added, after those that they wait for (Object.After).
func (c *Component) Add(name string, object any, options ...ObjectOption) *Object {
	o := &Object{component: c, name: name}
	for _, option := range options {
		option(o)
	}
	if c.rendering.finished.Load() != nil {
		c.session.addMistake(fmt.Errorf("object %s is added to %s when that is rendered already: add it in Setup or Build", o.name, c.name))
		return o
	}
	content, err := toObject(object)
	if err != nil {
		c.fail("%w", err)
		return o
	}
	o.content, o.ref = content, deploy.RefOf(content)
	if deferred, ok := object.(Deferred); ok {
		o.finished, o.deferred = true, deferred.Content
	}
	if name == "" {
		o.name = defaultObjectName(content, o.ref, c.session.Namespace())
	}
	if c.has(o.name) {
		c.fail("object %s: is added twice", o.name)
		return o
	}
	c.objects = append(c.objects, o)
	return o
}

// fewObjects are searched without an index.
const fewObjects = 32

// has reports whether an object has that name, and records it for the next call.
func (c *Component) has(name string) bool {
	if len(c.objects) < fewObjects {
		return slices.ContainsFunc(c.objects, func(other *Object) bool { return other.name == name })
	}
	if c.taken == nil {
		c.taken = make(map[string]bool, 2*fewObjects)
		for _, other := range c.objects {
			c.taken[other.name] = true
		}
	}
	taken := c.taken[name]
	c.taken[name] = true
	return taken
}

// defaultObjectName returns the name of an object that was given none.
func defaultObjectName(content *unstructured.Unstructured, ref deploy.Ref, namespace string) string {
	name := ref.Name
	if name == "" {
		name = content.GetGenerateName()
	}
	if ref.Namespace != "" && ref.Namespace != namespace {
		name = ref.Namespace + "/" + name
	}
	return strings.ToLower(ref.Kind.Kind) + "/" + name
}

// Name returns the name of the object in its component.
func (o *Object) Name() string { return o.name }

// After has o deployed after others of its component. A cycle is an error of the component that names its objects.
func (o *Object) After(others ...*Object) *Object {
	for _, other := range others {
		if other == nil || other.component != o.component {
			o.component.fail("object %s: waits for an object that isn't of its component: let the component wait (Component.After)", o.name)
			return o
		}
	}
	o.after = append(o.after, others...)
	return o
}

// YAML is text with objects, for Session.Add and Component.Add: one or several documents. Empty ones count for nothing,
// and a List for its items. A key that stands twice in one map is a mistake. For text that depends on a resource use
// package templates.
type YAML string

// toObject converts an object of a user, which isn't changed.
func toObject(value any) (*unstructured.Unstructured, error) {
	switch v := value.(type) {
	case Deferred:
		return v.standIn()
	case YAML:
		objects, err := render.YAML(string(v))
		if err == nil && len(objects) > 1 {
			err = fmt.Errorf("YAML: the text holds %d objects: add each by a name of its own, or all by Session.Add", len(objects))
		}
		if err != nil {
			return nil, err
		}
		value = objects[0]
	}
	return render.Object(value)
}
