package reconcile

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/optional"
	"github.com/operkit/operkit/reconcile/internal/render"
	"github.com/operkit/operkit/reconcile/patching"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	and       []Judge
	strategy  deploy.Strategy
	// finished: the object is deployed as it was added.
	finished bool
	// deferred, if not nil, returns the content, and content is a stand-in.
	deferred func(ctx context.Context) (*unstructured.Unstructured, error)
	// registered is the identity under which the object is in the objectIndex.
	registered identity
}

// Judge decides whether an object is ready: nil means ready, request.Precondition means not yet, and any other error
// means that the object has failed. The class of that error decides what the status reports, as for an error of Setup:
// request.Configuration, for example, is a mistake in the resource. live is the object in the cluster. It is shared:
// don't change it.
type Judge func(ctx context.Context, live *unstructured.Unstructured) error

// ObjectOption is an option of Component.Add.
type ObjectOption func(*Object)

// ReadyWhen sets the function that decides whether the object is ready, instead of package readiness.
func ReadyWhen(judge Judge) ObjectOption { return func(o *Object) { o.judge = judge } }

// AndReadyWhen adds a function that decides whether the object is ready, too: the object is ready when the usual rules
// of package readiness, or the function of ReadyWhen, find it ready and judge returns nil. judge is called only then.
// Several functions are called in their order, up to the first error.
func AndReadyWhen(judge Judge) ObjectOption {
	return func(o *Object) {
		if judge != nil {
			o.and = append(o.and, judge)
		}
	}
}

// By sets how the object is written, see deploy.Strategy; default deploy.ServerSideApply.
func By(strategy deploy.Strategy) ObjectOption { return func(o *Object) { o.strategy = strategy } }

// Finished deploys the object exactly as it was added, without patches, NameObjects, By and Revise. It is for objects
// that another program has rendered.
func Finished() ObjectOption { return func(o *Object) { o.finished = true } }

// Add adds an object, in one of the forms that Session.Add takes, under a name that is unique in the component. Objects
// are deployed in the order in which they were added, except that an object comes after the objects that it waits for
// (Object.After).
func (c *Component) Add(name string, object any, options ...ObjectOption) *Object {
	o := &Object{component: c, name: name}
	optional.Apply(o, options)
	if c.rendering.finished.Load() != nil {
		c.session.addMistake(fmt.Errorf("object %s is added to component %s after its rendering: add it in Setup or Build", o.name, c.name))
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
		ref := o.ref
		ref.Name = cmp.Or(ref.Name, content.GetGenerateName())
		o.name = patching.ObjectName(ref, c.session.Namespace())
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

// objectIndex finds objects that two components render: each component would undo what the other wrote. The versions of
// one kind count as the same kind.
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
		return nil // o was registered when it was added
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

// wanted reports whether an enabled component renders the object with the identity id.
func (l *objectIndex) wanted(id identity) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	holder := l.holders[id]
	return holder != nil && !holder.component.disabled
}

const (
	longestName = 63
	hashDigits  = 8
)

// ScopedName returns the name for an object of the resource: the resource's name, a dash and name, shortened by
// TruncatedName so that it is a valid label value. The name of a StatefulSet or CronJob may have only 52 characters:
// let the resource's schema refuse names that lead to a longer one.
func (s *Session) ScopedName(name string) string { return s.TruncatedName(s.Name() + "-" + name) }

// TruncatedName returns name. If name is longer than 63 characters, it is cut, by Truncate or, with the option
// Oper8Names, as oper8 does.
func (s *Session) TruncatedName(name string) string {
	if s.reconciler.options.oper8Names {
		return truncateOper8(name)
	}
	return Truncate(name)
}

func truncateOper8(name string) string {
	characters := []rune(name)
	if len(characters) <= longestName {
		return name
	}
	const digits = 4
	sum := sha256.Sum256([]byte(name))
	return string(characters[:longestName-digits]) + hex.EncodeToString(sum[:])[:digits]
}

// Truncate returns name. If it is longer than 63 bytes, it is cut to that length and ends in a dash and 8 digits of the
// hash of the whole name.
func Truncate(name string) string {
	if len(name) <= longestName {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	head := strings.TrimRightFunc(name[:longestName-hashDigits-1], func(c rune) bool { return !alphanumeric(c) })
	digits := hex.EncodeToString(sum[:])[:hashDigits]
	if head == "" {
		return digits
	}
	return head + "-" + digits
}

func alphanumeric(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}
