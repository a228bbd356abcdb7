package templates

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		files   map[string]string
		folder  string
		options []Option
		want    string
	}{
		{"no file", nil, ".", nil, "templates: folder .: has no file that ends in .yaml"},
		{"only defines", map[string]string{"a.tpl": "x"}, ".", nil, "has no file that ends in .yaml"},
		{"only data", map[string]string{"files/a.yaml": "x"}, ".", nil, "has no file that ends in .yaml"},
		{"no such folder", map[string]string{"a.yaml": "x"}, "deploy", nil, "open deploy: file does not exist"},
		{"no path", map[string]string{"a.yaml": "x"}, "./deploy/", nil, `templates: folder "./deploy/": invalid path`},
		{"syntax", map[string]string{"web/a.yaml": "a\n{{ if }}"}, ".", nil, "web/a.yaml:2: missing value for if"},
		{"an action that isn't closed", map[string]string{"a.yaml": "a\n{{ .Name "}, ".", nil, "a.yaml:2: unclosed action"},
		{"a function that there isn't", map[string]string{"a.yaml": "\n\n{{ nope }}"}, ".", nil, `a.yaml:3: function "nope" not defined`},
		{"a function that isn't pure", map[string]string{"a.yaml": "{{ now }}"}, ".", nil, `a.yaml:1: function "now" not defined`},
		{"an include of nothing", map[string]string{"a.yaml": "a: b\nc: {{ include \"labels\" . }}"}, ".", nil, `a.yaml:2: template "labels" isn't defined`},
		{"a template of nothing, in a branch", map[string]string{"a.yaml": "a: b\n\n{{ if .Name }}{{ else }}\n{{ template \"labels\" . }}{{ end }}"}, ".", nil, `a.yaml:4: template "labels" isn't defined`},
		{"an include of nothing, in a define", map[string]string{"a.yaml": "a: b", "h.tpl": "\n{{ define \"x\" }}{{ with (include \"y\" .) }}{{ end }}{{ end }}"}, ".", nil, `h.tpl:2: template "y" isn't defined`},
		{"two defines of a name", map[string]string{"a.yaml": "a: b", "g.tpl": `{{ define "x" }}1{{ end }}`, "h.tpl": "\n\n{{ define \"x\" }}2{{ end }}"}, ".", nil, `h.tpl:3: template "x" is defined twice: also in g.tpl`},
		{"a name that Helm's users may choose", map[string]string{"web/a.yaml.tmpl": "a: b"}, ".", nil, "web/a.yaml.tmpl: not a template: rename it so that it ends in .yaml"},
		{"a delimiter that is empty", map[string]string{"a.yaml": "a: b"}, ".", []Option{Delims("", "]]")}, `delims: "" and "]]": a delimiter is empty`},
		{"values that are no map", map[string]string{"a.yaml": "a: b"}, ".", []Option{Values(3)}, "values: a value of type int isn't a map"},
		{"values that can't be", map[string]string{"a.yaml": "a: b"}, ".", []Option{Values(map[string]any{"a": func() {}})}, "values: a value of type map[string]interface {} can't be converted"},
		{"a function of values that is nil", map[string]string{"a.yaml": "a: b"}, ".", []Option{ValuesFrom(nil)}, "values: the function is nil"},
		{"a function that is built in", map[string]string{"a.yaml": "a: b"}, ".", []Option{Funcs(template.FuncMap{"include": strings.ToUpper})}, "function include: there is a function of this name already"},
		{"a function that is none", map[string]string{"a.yaml": "a: b"}, ".", []Option{Funcs(template.FuncMap{"x": 3})}, "functions: value for x not a function"},
		{"a function that answers too much", map[string]string{"a.yaml": "a: b"}, ".", []Option{Funcs(template.FuncMap{"x": func() (int, int) { return 1, 2 }})}, "functions: "},
		{"a function of no name", map[string]string{"a.yaml": "a: b"}, ".", []Option{Funcs(template.FuncMap{"a-b": strings.ToUpper})}, "functions: "},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			_, err := Parse(folder(row.files), row.folder, row.options...)
			assert.ErrorContains(t, err, row.want)
		})
	}
	_, err := Parse(nil, ".")
	require.Error(t, err)
}

func TestParseNamesEveryFile(t *testing.T) {
	t.Parallel()
	_, err := Parse(folder(map[string]string{"a.yaml": "{{ if }}", "b.yaml": "{{ nope }}"}), ".")
	assert.ErrorContains(t, err, "a.yaml:1: ")
	assert.ErrorContains(t, err, "b.yaml:1: ")
	var first *Error
	require.ErrorAs(t, err, &first)
	assert.Equal(t, "a.yaml", first.File)
}

// brokenFS has a file that can't be read.
type brokenFS struct{ files fstest.MapFS }

func (b brokenFS) Open(name string) (fs.File, error) {
	if name == "a.yaml" {
		return nil, errors.New("the disk is worn")
	}
	return b.files.Open(name)
}

func TestParseUnreadable(t *testing.T) {
	t.Parallel()
	_, err := Parse(brokenFS{folder(map[string]string{"a.yaml": "a: b", "b.yaml": "a: b"})}, ".")
	assert.ErrorContains(t, err, "the disk is worn")
}

func TestComponents(t *testing.T) {
	t.Parallel()
	object := "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: "
	parsed, err := Parse(folder(map[string]string{
		"d/top.yaml":                 object + "top",
		"d/web/b.yml":                object + "b",
		"d/web/a.yaml":               "\ufeff" + object + "a\n---\n" + object + "a2",
		"d/web/extra/c.yaml":         object + "c",
		"d/web/README.md":            "{{ not parsed",
		"d/web/files/x.yaml":         "{{ not parsed",
		"d/web/files/deep/x.tpl":     "{{ not parsed",
		"d/.git/x.yaml":              "{{ not parsed",
		"d/web/.a.yaml.swp":          "{{ not parsed",
		"d/empty/e.yaml":             "# nothing\n---\n{{ if false }}\na: b\n{{ end }}---\n{}\n---\nnull\n",
		"elsewhere/not/below/d.yaml": "{{ not parsed",
	}), "d")
	require.NoError(t, err)
	assert.Equal(t, []string{".", "empty", "web", "web/extra"}, parsed.Components())
	for name, want := range map[string][]string{
		".": {"ConfigMap top"}, "web": {"ConfigMap a", "ConfigMap a2", "ConfigMap b"}, "web/extra": {"ConfigMap c"}, "empty": nil,
	} {
		objects, err := parsed.Render(name, Data{})
		require.NoError(t, err, name)
		assert.Equal(t, want, namesOf(objects), name)
	}
	_, err = parsed.Render("wbe", Data{})
	assert.EqualError(t, err, `templates: folder d: has no component "wbe": it has ., empty, web, web/extra`)
}

// Who passes over the error of Parse is told of it by each component.
func TestNoTemplates(t *testing.T) {
	t.Parallel()
	var none *Templates
	_, err := none.Render("web", Data{})
	require.EqualError(t, err, "templates: nil Templates: Parse has returned an error")
	require.EqualError(t, none.Component("web").Build(t.Context(), nil, nil), err.Error())
	assert.Empty(t, none.Components())
}
