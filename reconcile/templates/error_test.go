package templates

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"text/template"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every mistake names the place in the template.
func TestRenderMistakes(t *testing.T) {
	t.Parallel()
	const a = "deploy/web/a.yaml"
	for _, row := range []struct{ reason, text, want string }{
		{"a field that isn't there", config("  x: 1\n  z: {{ .Spec.foo }}"), a + `:6:14: map has no entry for key "foo": in {{ .Spec.foo }}`},
		{"a field of text", config("  x: {{ .Name.foo }}"), a + ":5:14: can't evaluate field foo in type interface {}: in {{ .Name.foo }}"},
		{"in a define", config("  x: {{ include \"missing\" . }}"), `deploy/helpers.tpl:5:26: map has no entry for key "Nope": in {{ .Nope }} (included by deploy/web/a.yaml:5:9)`},
		{"an include without end", config("  x: {{ include \"itself\" . }}"), `deploy/helpers.tpl:11:25: 100 nested includes: does template "itself" include itself? (included by deploy/helpers.tpl:11:25, by deploy/web/a.yaml:5:9)`},
		{"an include of a name of nothing", config("  x: {{ include .Name . }}"), a + `:5:9: the template isn't defined`},
		{"a function's error", config("  x: {{ mustRegexMatch \"(\" .Name }}"), a + ":5:9: mustRegexMatch: error parsing regexp: missing closing ): `(`: in {{ mustRegexMatch \"(\" .Name }}"},
		{"a panic of a function", config("  x: {{ div 1 0 }}"), a + ":5:9: div: runtime error: integer divide by zero: in {{ div 1 0 }}"},
		{"an argument too many", config("  x: {{ upper .Name .Name }}"), a + ":5:9: wrong number of args for upper: want 1 got 2: in {{ upper }}"},
		{"a loop over nothing that can be", config("  x: {{ range true }}{{ end }}"), a + ":5:15: range can't iterate over true: in {{ true }}"},
		{"required", config("  x: {{ required \"say a size\" nil }}"), a + ":5:9: say a size"},
		{"fail", config("{{ if .Name }}\n  x: {{ fail \"not both\" }}{{ end }}"), a + ":6:9: not both"},
		{"a list that is too long", config("  x: {{ until 1000000000 }}"), a + ":5:9: from 0 to 1000000000 by 1 are more than 100000 numbers"},
		{"text that is too long", config("  x: {{ repeat 1000000000 .Name }}"), a + ":5:9: 1000000000 times: a negative count or more than 16 MiB"},
		{"less than no text", config("  x: {{ repeat -1 .Name }}"), a + ":5:9: -1 times: a negative count or more than 16 MiB"},
		{"an indentation that is none", config("  x: {{ indent 100000000 .Name }}"), a + ":5:9: 100000000 spaces: not a valid indentation"},
		{"a map in itself", config("  x: {{ set .Spec \"x\" (list .) }}"), a + ":5:9: a map can't hold itself"},
		{"a map in a part of itself", config("  x: {{ set .Spec.parts \"x\" .Spec }}"), a + ":5:9: a map can't hold itself"},
		{"four numbers", config("  x: {{ seq 1 2 3 4 }}"), a + ":5:9: seq: it takes three numbers at most: in {{ seq 1 2 3 4 }}"},
		{"fromYaml of what isn't", config("  x: {{ fromYaml \"a: [\" }}"), a + ":5:9: fromYaml: yaml: line 1: did not find expected node content"},
		{"fromYaml of a key twice", config("  x: {{ fromYaml \"a: 1\\na: 2\" }}"), `key "a" already set in map`},
		{"fromJson of what isn't", config("  x: {{ fromJson \"{\" }}"), a + ":5:9: fromJson: unexpected end of JSON input"},

		{"no YAML", config("  x: a: b"), a + `:5: the rendered text isn't YAML: mapping values are not allowed in this context, in its line 5: "  x: a: b"`},
		{"no YAML behind a loop", config("{{- range until 3 }}\n  k{{ . }}: v\n{{- end }}\n  x: a: b\n"), a + `:8: the rendered text isn't YAML: mapping values are not allowed in this context, in its line 8: "  x: a: b"`},
		{"no YAML by an action", config("{{ if true }}\n\n  {{ printf \"x: a: b\" }}\n{{ end }}"), a + `:7: the rendered text isn't YAML: mapping values`},
		{"no YAML in the second document", config("  x: v\n{{- /* a\n comment */}}\n---\n") + "a: b\n\tc: d", a + ":10: the rendered text isn't YAML: found"},
		{"a key twice", config("  x: y\n  z: 1\n  x: z"), a + `:7: the rendered text isn't YAML: key "x" already set in map, in its line 7: "  x: z"`},
		{"a key twice by an include", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  b: c\n  {{- include \"labels\" . | nindent 2 }}\n", a + `:6: the rendered text isn't YAML: key "b" already set in map, in its line 7: "  b: c"`},
		{"an anchor of nothing", config("  x: *y"), a + `:1: the rendered text isn't YAML: unknown anchor 'y' referenced, in its line 1: "apiVersion: v1"`},
		{"a number that is none", config("  x: .nan"), a + ":1: the rendered text isn't YAML: json: unsupported value: NaN"},
		{"a long line", config("  x: " + strings.Repeat("y", 100) + ": z"), strings.Repeat("y", 75) + `..."`},
		{"a list", "# c\n---\n{{ if true }}\n- 1\n{{ end }}", a + ":4: is a list, not an object: apiVersion, kind and metadata are needed"},
		{"text", "just text", a + ":1: is text, not an object"},
		{"a number", "--- 3", a + ":1: is a number or a boolean, not an object"},
		{"no kind", "apiVersion: v1\nmetadata: {name: a}", a + ":1: a: apiVersion or kind is missing, or isn't text"},
		{"a kind that is no text", "apiVersion: v1\nkind: 3\nmetadata: {name: a}", a + ":1: a: apiVersion or kind is missing, or isn't text"},
		{"no metadata", "apiVersion: v1\nkind: ConfigMap", a + ":1: ConfigMap: has no metadata"},
		{"no name", "apiVersion: v1\nkind: ConfigMap\nmetadata: {}", a + ":1: ConfigMap: metadata.name is missing, or isn't text: quote it"},
		{"a name that is a number", "# b\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: 3}", a + ":2: ConfigMap: metadata.name is missing, or isn't text: quote it"},
		{"a label that is a number", "apiVersion: v1\nkind: Thing\nmetadata: {name: a, labels: {b: c, x: 1}}", a + ":1: Thing a: metadata.labels[x]: is a number or a boolean: quote it"},
		{"an annotation that is a map", "apiVersion: v1\nkind: Thing\nmetadata: {name: a, annotations: {x: {}}}", a + ":1: Thing a: metadata.annotations[x]: is a map: text is needed"},
		{"labels that are none", "apiVersion: v1\nkind: Thing\nmetadata: {name: a, labels: [x]}", a + ":1: Thing a: metadata.labels: is a list: a map is needed"},
		{"data that is a boolean", config("  x: yes"), a + ":1: ConfigMap a: data[x]: is a number or a boolean: quote it"},
		{"an item of a list that is none", "apiVersion: v1\nkind: List\nitems: [{kind: List, items: [1]}]", a + ":1: List: items[0]: List: items[0]: is a number or a boolean, not an object"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			objects, err := set(t, row.text).Render("web", tea)
			assert.ErrorContains(t, err, row.want)
			assert.Nil(t, objects, "not a part of them")
			var place *Error
			require.ErrorAs(t, err, &place)
			assert.Positive(t, place.Line)
		})
	}
}

func TestEveryMistakeIsTold(t *testing.T) {
	t.Parallel()
	parsed, err := Parse(folder(map[string]string{
		"a.yaml": config("  x: {{ .Nope }}"), "b.yaml": config("  x: 1\n  x: 2\n  x: 3") + "\n---\n- 1\n", "c.yaml": config(""),
	}), ".")
	require.NoError(t, err)
	_, err = parsed.Render(".", tea)
	require.Error(t, err)
	lines := strings.Split(err.Error(), "\n")
	require.Len(t, lines, 4, err.Error())
	for i, start := range []string{"a.yaml:5:", "b.yaml:6: ", "b.yaml:7: ", "b.yaml:9: "} {
		assert.True(t, strings.HasPrefix(lines[i], start), lines[i])
	}
}

func TestTextWithoutEnd(t *testing.T) {
	t.Parallel()
	_, err := set(t, config("  x: {{ range 1000000000 }}{{ repeat 10000 $.Name }}{{ end }}")).Render("web", tea)
	assert.EqualError(t, err, "deploy/web/a.yaml: more than 16 MiB are rendered")
	_, err = set(t, "{{ define \"all\" }}{{ range 1000000000 }}{{ repeat 10000 $.Name }}{{ end }}{{ end }}"+config("  x: {{ include \"all\" . }}")).Render("web", tea)
	assert.ErrorContains(t, err, "deploy/web/a.yaml:5:9: more than 16 MiB are rendered")
}

// Of a file that goes on and on, the place is forgotten, not invented.
func TestPlacesAreBounded(t *testing.T) {
	t.Parallel()
	parsed := set(t, config("{{ range 60000 }}\n  k{{ . }}: v\n{{- end }}\n  x: a: b"))
	out := &output{places: parsed.places}
	require.NoError(t, parsed.all.ExecuteTemplate(out, "deploy/web/a.yaml", map[string]any{}))
	assert.Len(t, out.marks, markLimit+1)
	assert.Equal(t, place{"deploy/web/a.yaml", 6}, out.placeOf("b.yaml", 100))
	assert.Equal(t, place{file: "b.yaml"}, out.placeOf("b.yaml", 60_000))
}

// The content of a Secret doesn't get into an error, whichever way it goes wrong.
func TestSecretsStaySecret(t *testing.T) {
	t.Parallel()
	secret := func(lines string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n" + lines
	}
	leak := template.FuncMap{"leak": func(value any) (string, error) { return "", fmt.Errorf("%v is wrong", value) }}
	for reason, row := range map[string]struct{ text, want string }{
		"an anchor":                      {secret("  x: *{{ .Values.password }}"), "a.yaml:1: the rendered text isn't YAML, in its line 1: the reason is left out here"},
		"a tag":                          {secret("  x: !!int {{ .Values.password }}"), "the reason is left out here"},
		"an excerpt":                     {secret("  x: a: {{ .Values.password }}"), "a.yaml:5: the rendered text isn't YAML: mapping values are not allowed in this context, in its line 5"},
		"a list as a key":                {secret("  {{ .Values.password }}: 1\n  ? [{{ .Values.password }}]\n  : {{ .Values.password }}"), "left out"},
		"a function":                     {secret("  x: {{ leak .Values.password }}"), "a.yaml:5:9: leak: the reason is left out here"},
		"a loop":                         {secret("  x: {{ range (eq .Values.password \"hunter2\") }}{{ end }}"), "a.yaml:5:36: the reason is left out here"},
		"a literal":                      {secret("  x: {{ \"hunter2\" | leak }}"), "left out here"},
		"a literal beside a missing key": {secret("  x: {{ printf \"hunter2\" .Spec.x }}"), `map has no entry for key "x"`},
		"a panic":                        {secret("  x: {{ index .Values.password 99 }}"), "left out here"},
		"within a define":                {secret("  x: {{ include \"leaking\" . }}"), "helpers"},
		"a define that makes it":         {"{{ include \"credentials\" . }}\nstringData:\n  x: {{ leak .Values.password }}", "left out here"},
		"a define that only values name": {"{{ include (printf \"%s\" \"credentials\") . }}\nstringData:\n  x: {{ leak .Values.password }}", "left out here"},
		"a kind that the values say":     {"apiVersion: v1\nkind: {{ print \"Sec\" \"ret\" }}\nmetadata: {name: a}\nstringData: {x: {{ leak .Values.password }}}", "left out here"},
		"a kind that only the text says": {"apiVersion: v1\n{{ print \"ki\" \"nd: Sec\" \"ret\" }}\nmetadata: {name: a}\nstringData: {x: a: {{ .Values.password }}}", "isn't YAML: "},
		"a value that is no text":        {secret("  x: {a: {{ .Values.password }}}"), "stringData[x]: is a map: text is needed"},
		"the second document":            {"a: b\n---\n" + secret("  x: a: {{ .Values.password }}"), "isn't YAML"},
		"a list":                         {"apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: a}, stringData: {x: *{{ .Values.password }}}}]", "left out here"},
		"the name of a template":         {secret("  x: {{ include .Values.password . }}"), "a.yaml:5:9: the template isn't defined"},
		"the name of a file":             {secret("  x: {{ file .Values.password }}"), "a.yaml:5:9: there is no such file"},
		"a YAML text within":             {secret("  x: {{ fromYaml (printf \"*%s\" .Values.password) }}"), "fromYaml: the reason is left out here"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(row.text, "leaking") {
				row.text += "{{ define \"leaking\" }}{{ leak .Values.password }}{{ end }}"
				row.want = "leak: the reason is left out here"
			}
			_, err := set(t, row.text, Funcs(leak)).Render("web", tea)
			require.ErrorContains(t, err, row.want)
			assert.NotContains(t, err.Error(), "hunter2")
			assert.NotContains(t, err.Error(), base64.StdEncoding.EncodeToString([]byte("hunter2")))
		})
	}
}

// Where no Secret is near, what a function says is said; and its error can be told from others.
func TestErrorsOfFunctions(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	functions := Funcs(template.FuncMap{"broken": func() (string, error) { return "", broken }, "loud": func() string { panic("oh") }})
	_, err := set(t, config("  secretKeyRef: {{ broken }}"), functions).Render("web", tea)
	assert.EqualError(t, err, "deploy/web/a.yaml:5:20: broken: broken: in {{ broken }}")
	assert.ErrorIs(t, err, broken)
	_, err = set(t, "kind: Secret\n{{ broken }}", functions).Render("web", tea)
	assert.ErrorIs(t, err, broken)
	assert.NotContains(t, err.Error(), "broken: broken")
	_, err = set(t, config("  x: {{ loud }}"), functions).Render("web", tea)
	assert.EqualError(t, err, "deploy/web/a.yaml:5:9: loud: oh: in {{ loud }}")
}

func TestPanicOutsideOfFunctions(t *testing.T) {
	t.Parallel()
	parsed := set(t, config("  x: y"))
	r, err := parsed.take("deploy/web", nil)
	require.NoError(t, err)
	r.all = nil
	_, err = r.execute("deploy/web/a.yaml", nil)
	var panicked *dag.PanicError
	require.ErrorAs(t, err, &panicked)
	assert.ErrorContains(t, err, "deploy/web/a.yaml: panic: ")
}

func TestWhoseErrorItIs(t *testing.T) {
	t.Parallel()
	configuration := request.Configuration("")
	for text, resource := range map[string]bool{
		`{{ required "a" nil }}`: true, `{{ fail "a" }}`: true, `{{ include "f" . }}{{ define "f" }}{{ fail "a" }}{{ end }}`: true, `{{ .Nope }}`: false, `{{ until 1000000 }}`: false,
	} {
		_, err := set(t, text).Render("web", tea)
		require.Error(t, err)
		assert.Equal(t, resource, strings.HasPrefix(fmt.Sprintf("%T", errors.Unwrap(firstOf(err))), "*fmt.") && isSame(firstOf(err), configuration), text)
	}
}

func firstOf(err error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) {
		return joined.Unwrap()[0]
	}
	return err
}

func isSame(a, b error) bool { return fmt.Sprintf("%T", a) == fmt.Sprintf("%T", b) }
