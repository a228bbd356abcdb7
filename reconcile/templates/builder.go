package templates

import (
	"context"
	"errors"

	"github.com/operkit/operkit/reconcile"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Component returns the component of that name, for Session.Use; options are Values and ValuesFrom. A name
// that isn't among Components, and any other mistake, is the component's error. To give it a Verify,
// Deploy, Disable or Revise, embed it in a type of your own that has them.
func (t *Templates) Component(name string, opts ...Option) reconcile.Builder {
	return t.builder(name, opts)
}

func (t *Templates) builder(name string, opts []Option) *builder {
	o, err := newOptions(opts)
	if err == nil && (o.funcs != nil || o.left != defaultLeft || o.right != defaultRight) {
		err = errors.New("templates: Funcs and Delims are options of Parse")
	}
	return &builder{t, name, o, err}
}

type builder struct {
	set     *Templates
	name    string
	options options
	err     error
}

// Build implements reconcile.Builder.
func (b *builder) Build(ctx context.Context, s *reconcile.Session, c *reconcile.Component) error {
	objects, err := b.objects(ctx, s)
	for _, object := range objects {
		c.Add("", object)
	}
	return err
}

func (b *builder) objects(ctx context.Context, s *reconcile.Session) ([]*unstructured.Unstructured, error) {
	if b.err != nil {
		return nil, b.err
	}
	// Before the values are made, which may cost something.
	if _, err := b.set.component(b.name); err != nil {
		return nil, err
	}
	data, err := dataOf(s)
	if err != nil {
		return nil, err
	}
	if data.Values, err = valuesOf(ctx, s, b.set.options, b.options); err != nil {
		return nil, err
	}
	return b.set.Render(b.name, data)
}

// Objects returns the objects of a component, for Session.Add or to be changed before: they are the caller's own.
// Options are Values and ValuesFrom.
func (t *Templates) Objects(ctx context.Context, s *reconcile.Session, component string, opts ...Option) ([]*unstructured.Unstructured, error) {
	return t.builder(component, opts).objects(ctx, s)
}

// Render returns the objects of a component without a session, for tests and for programs that are no operators.
// data.Values stand for all that Values and ValuesFrom were given. The error joins one Error for each file, at
// least, that is wrong; there are no objects then.
func (t *Templates) Render(component string, data Data) ([]*unstructured.Unstructured, error) {
	found, err := t.component(component)
	if err != nil {
		return nil, err
	}
	if data.ScopedName == nil {
		data.ScopedName = func(name string) string { return reconcile.Truncate(data.Name + "-" + name) }
	}
	root, err := data.root()
	if err != nil {
		return nil, err
	}
	r, err := t.take(found.folder, data.ScopedName)
	if err != nil {
		return nil, err
	}
	defer t.runners.Put(r)
	var all []*unstructured.Unstructured
	var errs []error
	for _, file := range found.files {
		dot := root
		if t.mutate {
			dot = runtime.DeepCopyJSON(root)
		}
		out, err := r.execute(file, dot)
		if err != nil {
			errs = append(errs, classified(err))
			continue
		}
		objects, err := t.objects(file, out)
		errs = append(errs, err)
		all = append(all, objects...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return all, nil
}

// classified: what fail and required say is about the resource.
func classified(err error) error {
	var rule *ruleError
	if errors.As(err, &rule) && rule.resource {
		return reconcile.Configuration("%w", err)
	}
	return err
}
