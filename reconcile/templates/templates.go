package templates

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Templates are the parsed files of a folder. They don't change, and are safe for concurrent use.
type Templates struct {
	folder     string
	options    options
	components map[string]*component
	// data are the files that aren't templates, by path.
	data map[string]string
	// all holds every file and every define.
	all *template.Template
	// places has the places of the text nodes.
	places places
	// secretive has the names of the templates that may render a Secret or a part of one.
	secretive map[string]bool
	// mutate: some template changes its values.
	mutate  bool
	runners sync.Pool
}

// component is a folder.
type component struct {
	folder string
	// files are the names of its templates, ascending.
	files []string
}

// Parse reads the templates of folder, "." for all of files. The error names every file that is wrong, see Error. A
// folder without any template is an error.
func Parse(files fs.FS, folder string, opts ...Option) (*Templates, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	if files == nil || !fs.ValidPath(folder) {
		return nil, fmt.Errorf("templates: folder %q: invalid path: leave out ., .. and slashes at the ends", folder)
	}
	sources, err := load(files, folder)
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	t := &Templates{folder: folder, options: o, components: map[string]*component{}, data: map[string]string{}, places: places{}}
	for _, source := range sources {
		t.add(source)
	}
	if len(t.components) == 0 {
		return nil, fmt.Errorf("templates: folder %s: has no file that ends in .yaml", folder)
	}
	if err := t.parse(sources); err != nil {
		return nil, err
	}
	// Parse makes the first runner, so that it returns the errors of Clone and Funcs.
	first, err := t.newRunner()
	if err != nil {
		return nil, fmt.Errorf("templates: %w", err)
	}
	t.runners.Put(first)
	return t, nil
}

// add registers a file by its use.
func (t *Templates) add(s source) {
	switch s.use {
	case forData:
		t.data[s.path] = s.text
	case forObjects:
		name := t.within(path.Dir(s.path))
		if t.components[name] == nil {
			t.components[name] = &component{folder: path.Dir(s.path)}
		}
		t.components[name].files = append(t.components[name].files, s.path)
	}
}

// within returns a path below the folder.
func (t *Templates) within(name string) string {
	switch {
	case t.folder == ".":
		return name
	case name == t.folder:
		return "."
	}
	return strings.TrimPrefix(name, t.folder+"/")
}

// Components returns the names of the components, ascending.
func (t *Templates) Components() []string {
	if t == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(t.components))
}

func (t *Templates) component(name string) (*component, error) {
	if t == nil {
		return nil, errors.New("templates: nil Templates: Parse has returned an error")
	}
	if found := t.components[name]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("templates: folder %s: has no component %q: it has %s", t.folder, name, strings.Join(t.Components(), ", "))
}

// Component returns the component with that name, for Session.Use; options are Values and ValuesFrom. If the name is
// unknown, or anything else is wrong, the component fails when it is built. To add a method Verify, Deploy, Disable or
// Revise, embed the Builder in your own type.
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
	// This is checked before the values are computed, since computing them may be expensive.
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

// Objects returns the objects of a component, for Session.Add; the caller may change them. Options are Values and
// ValuesFrom.
func (t *Templates) Objects(ctx context.Context, s *reconcile.Session, component string, opts ...Option) ([]*unstructured.Unstructured, error) {
	return t.builder(component, opts).objects(ctx, s)
}

// Render returns the objects of a component without a session, for tests and for programs that aren't operators.
// data.Values replace all Values and ValuesFrom. The error joins at least one Error for each invalid file. With an
// error Render returns no objects.
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

// classified makes an error of fail or required a configuration error of the resource.
func classified(err error) error {
	if rule, ok := errors.AsType[*ruleError](err); ok && rule.resource {
		return request.Configuration("%w", err)
	}
	return err
}
