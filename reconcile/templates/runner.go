package templates

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"text/template"

	"github.com/operkit/operkit/dag"
)

// runner renders files, one after the other.
type runner struct {
	set *Templates
	// all are the templates of the set, with functions that look at this runner.
	all *template.Template
	// folder is the one of the component that is being rendered.
	folder     string
	scopedName func(string) string
	// depth is how many includes are under way within each other.
	depth int
}

func (t *Templates) tryRunner() (*runner, error) {
	all, err := t.all.Clone()
	if err != nil {
		return nil, err
	}
	r := &runner{set: t, all: all}
	all.Funcs(r.bound())
	return r, nil
}

// newRunner can't fail: Parse has made one already, and what was cloned hasn't been executed since.
func (t *Templates) newRunner() *runner {
	r, _ := t.tryRunner()
	return r
}

const deepestInclude = 100

// include is what a define renders.
func (r *runner) include(name string, data any) (string, error) {
	if r.depth >= deepestInclude {
		return "", rulef("too many includes within each other", "%d includes within each other: does %q include itself", deepestInclude, name)
	}
	if r.all.Lookup(name) == nil {
		return "", rulef("the template isn't defined", "template %q isn't defined", name)
	}
	r.depth++
	defer func() { r.depth-- }()
	var out output
	err := r.all.ExecuteTemplate(&out, name, data)
	return out.buffer.String(), err
}

// execute renders a file.
func (r *runner) execute(file string, data map[string]any) (out *output, err error) {
	defer func() {
		// What functions do is guarded by package template; this is for methods that fmt calls, and the like.
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: bytes.Clone(debug.Stack())}
		}
		if err != nil {
			err = r.set.executeError(file, err)
		}
	}()
	r.depth = 0
	out = &output{places: r.set.places}
	return out, r.all.ExecuteTemplate(out, file, data)
}

// take lends a runner.
func (t *Templates) take(folder string, scopedName func(string) string) (*runner, error) {
	r, ok := t.runners.Get().(*runner)
	if !ok || r == nil {
		return nil, fmt.Errorf("templates: folder %s: its templates can't be copied", t.folder)
	}
	r.folder, r.scopedName = folder, scopedName
	return r, nil
}
