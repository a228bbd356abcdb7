package templates

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/operkit/operkit/reconcile/internal/document"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// runner renders files, one after the other.
type runner struct {
	set *Templates
	// all are the templates of the set, with functions bound to this runner.
	all *template.Template
	// folder is the folder of the component that is being rendered.
	folder     string
	scopedName func(string) string
	// depth is how many includes are nested.
	depth int
}

func (t *Templates) newRunner() (*runner, error) {
	all, err := t.all.Clone()
	if err != nil {
		return nil, err
	}
	r := &runner{set: t, all: all}
	all.Funcs(r.bound())
	return r, nil
}

const deepestInclude = 100

// include returns the text that a define renders.
func (r *runner) include(name string, data any) (string, error) {
	if r.depth >= deepestInclude {
		return "", rulef("too many nested includes", "%d nested includes: does template %q include itself?", deepestInclude, name)
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
func (r *runner) execute(file string, data map[string]any) (*output, error) {
	r.depth = 0
	out := &output{places: r.set.places}
	// Package template recovers panics of functions. Guard recovers other panics, for example of methods that fmt
	// calls.
	if err := failure.Guard(func() error { return r.all.ExecuteTemplate(out, file, data) }); err != nil {
		return nil, r.set.executeError(file, err)
	}
	return out, nil
}

// take returns an idle runner.
func (t *Templates) take(folder string, scopedName func(string) string) (*runner, error) {
	r, ok := t.runners.Get().(*runner)
	if !ok {
		var err error
		if r, err = t.newRunner(); err != nil {
			return nil, fmt.Errorf("templates: folder %s: %w", t.folder, err)
		}
	}
	r.folder, r.scopedName = folder, scopedName
	return r, nil
}

// objects reads the objects that a file has rendered.
func (t *Templates) objects(file string, out *output) ([]*unstructured.Unstructured, error) {
	var all []*unstructured.Unstructured
	var errs []error
	text := out.buffer.String()
	for _, d := range document.Split(text) {
		value, problems := d.Decode()
		secretive := t.secretive[file] || speaksOfSecrets(d.Text)
		for _, p := range problems {
			errs = append(errs, t.documentError(file, out, d, p, secretive))
		}
		if nothing, isMap := value.(map[string]any); len(problems) > 0 || value == nil || isMap && len(nothing) == 0 {
			continue
		}
		found, err := document.Objects(value)
		if err != nil {
			errs = append(errs, placed(file, out, d, "", err))
		}
		for _, content := range found {
			object := &unstructured.Unstructured{Object: content}
			if err := check(object); err != nil {
				errs = append(errs, placed(file, out, d, nameOf(object), err))
				continue
			}
			all = append(all, object)
		}
	}
	return all, errors.Join(errs...)
}

// placed returns an Error for a whole document.
func placed(file string, out *output, d document.Document, object string, err error) error {
	from := out.placeOf(file, d.FirstLine())
	return &Error{File: from.file, Line: from.line, Object: object, Err: err}
}

const longestExcerpt = 80

// documentError converts an error of the YAML parser.
func (t *Templates) documentError(file string, out *output, d document.Document, p document.Problem, secretive bool) error {
	line := d.FirstLine()
	if p.Line > 0 {
		line = d.Line + p.Line - 1
	}
	from := out.placeOf(file, line)
	e := &Error{File: from.file, Line: from.line}
	excerpt := strings.Split(out.buffer.String(), "\n")[min(line, strings.Count(out.buffer.String(), "\n")+1)-1]
	if len(excerpt) > longestExcerpt {
		excerpt = excerpt[:longestExcerpt] + "..."
	}
	switch {
	case secretive && p.Quotes:
		e.Err = fmt.Errorf("the rendered text isn't YAML, in its line %d: the reason is %s", line, withheld)
	case secretive:
		e.Err = fmt.Errorf("the rendered text isn't YAML: %s, in its line %d", p.Text, line)
	default:
		e.Err = fmt.Errorf("the rendered text isn't YAML: %s, in its line %d: %q", p.Text, line, excerpt)
	}
	return e
}

func nameOf(object *unstructured.Unstructured) string {
	return strings.TrimSpace(object.GetKind() + " " + object.GetName())
}

// textual are the paths of maps whose values must be strings: missing quotes are the usual mistake.
var textual = [][]string{{"metadata", "labels"}, {"metadata", "annotations"}}

// check reports mistakes for which every cluster would refuse the object.
func check(object *unstructured.Unstructured) error {
	_, isMap := object.Object["metadata"].(map[string]any)
	kind, version := object.GetKind(), object.GetAPIVersion()
	switch {
	case kind == "" || version == "":
		return errors.New("apiVersion or kind is missing, or isn't text")
	case !isMap:
		return errors.New("has no metadata")
	case object.GetName() == "" && object.GetGenerateName() == "":
		return errors.New("metadata.name is missing, or isn't text: quote it")
	}
	paths := textual
	if version == "v1" && (kind == "ConfigMap" || kind == "Secret") {
		paths = append(slices.Clone(paths), []string{"data"}, []string{"stringData"})
	}
	for _, path := range paths {
		if err := checkTexts(object.Object, path); err != nil {
			return err
		}
	}
	return nil
}

func checkTexts(content map[string]any, path []string) error {
	value, _, _ := unstructured.NestedFieldNoCopy(content, path...)
	if value == nil {
		return nil
	}
	texts, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: is %s: a map is needed", strings.Join(path, "."), document.KindOf(value))
	}
	for _, key := range sortedKeys(texts) {
		switch texts[key].(type) {
		case string, nil:
		case map[string]any:
			return fmt.Errorf("%s[%s]: is a map: text is needed", strings.Join(path, "."), key)
		default:
			return fmt.Errorf("%s[%s]: is %s: quote it", strings.Join(path, "."), key, document.KindOf(texts[key]))
		}
	}
	return nil
}
