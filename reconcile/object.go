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

// Object is one object of a component. Its name is unique in the component. Logs, errors and temporary patches use its
// internal name, "<component>.<object>".
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
	// deferred, if not nil, returns the content, and content is a stand-in.
	deferred func(ctx context.Context) (*unstructured.Unstructured, error)
	// registered is the identity under which it is in the objectIndex.
	registered identity
}

// Judge decides whether an object is ready: nil means ready, request.Precondition not yet, any other error that it has
// failed. live is the object in the cluster. It is shared: don't change it.
type Judge func(ctx context.Context, live *unstructured.Unstructured) error

// ObjectOption is an option of Component.Add.
type ObjectOption func(*Object)

// ReadyWhen sets the function that decides whether the object is ready, instead of package readiness.
func ReadyWhen(judge Judge) ObjectOption { return func(o *Object) { o.judge = judge } }

// By sets how the object is written, see deploy.Strategy; default deploy.ServerSideApply.
func By(strategy deploy.Strategy) ObjectOption { return func(o *Object) { o.strategy = strategy } }

// Finished deploys the object exactly as it was added, without patches, NameObjects, By and Revise. It is for objects
// that another program has rendered.
func Finished() ObjectOption { return func(o *Object) { o.finished = true } }

// Add adds an object, in one of the forms that Session.Add takes, under a name that is unique in the component. Objects
// are deployed in the order in which they were added, but after the objects that they wait for (Object.After).
func (c *Component) Add(name string, object any, options ...ObjectOption) *Object {
	o := &Object{component: c, name: name}
	for _, option := range options {
		option(o)
	}
	if c.rendering.finished.Load() != nil {
		c.session.addMistake(fmt.Errorf("object %s is added to %s after that was rendered: add it in Setup or Build", o.name, c.name))
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

// fewObjects is the number of objects up to which names are searched without an index.
const fewObjects = 32

// has reports whether an object has that name, and records the name for the next call.
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

// defaultObjectName returns the name of an object that was added without one.
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

// After deploys o after other objects of its component. A cycle is an error of the component that names the objects.
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

// YAML is text with objects, for Session.Add and Component.Add: one or several documents. Empty documents are ignored,
// and a List stands for its items. A duplicate key in a map is an error. For text that depends on a resource use
// package templates.
type YAML string

// toObject converts an object that a user passed. It doesn't change value.
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
