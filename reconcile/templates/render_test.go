package templates

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"text/template"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ reason, template, want string }{
		{"the resource", `{{ .Name }} {{ .Namespace }} {{ .APIVersion }} {{ .Kind }} {{ .Version }}`, "tea market example.com/v1 Shop 1.2"},
		{"metadata", `{{ .Metadata.uid }}`, "1"},
		{"configuration", `{{ .Config.music }}`, "none"},
		{"own values", `{{ .Values.password }}`, "hunter2"},
		{"an integer stays one", `{{ .Spec.size }} {{ .Spec.large }} {{ kindOf .Spec.size }}`, "3 9007199254740993 int64"},
		{"what may be absent", `{{ dig "colour" "red" .Spec }}`, "red"},
		{"what is present", `{{ dig "size" 1 .Spec }}`, "3"},
		{"a scoped name", `{{ scopedName "web" }}`, "tea-web"},
		{"a long one", `{{ scopedName (repeat 70 "a") | len }}`, "63"},
		{"an include", `{{ include "labels" . | sha256sum | trunc 8 }}`, "aa7cee64"},
		{"required", `{{ required "size!" .Spec.size }}`, "3"},
		{"toYaml", `{{ .Spec | toYaml | replace "\n" "|" }}`, "large: 9007199254740993|parts:|  a: 1|size: 3"},
		{"fromYaml", `{{ (fromYaml "a: [1, 2.5]").a | toJson }}`, "[1,2.5]"},
		{"fromJson", `{{ (fromJson "{\"a\": 9007199254740993}").a }}`, "9007199254740993"},
		{"keys in order", `{{ keys .Spec | join "," }}`, "large,parts,size"},
		{"values in order", `{{ values (dict "b" 1 "a" 2 "c" 3) | join "," }}`, "2,1,3"},
		{"until", `{{ until 3 | join "," }} {{ until -2 | join "," }} {{ untilStep 1 8 3 | join "," }} {{ untilStep 3 0 -2 | join "," }} {{ untilStep 1 2 0 | len }}`, "0,1,2 0,-1 1,4,7 3,1 0"},
		{"until the largest number", `{{ untilStep 9223372036854775806 9223372036854775807 5 | len }}{{ untilStep -9223372036854775807 -9223372036854775808 -5 | len }}`, "11"},
		{"seq", `{{ seq 3 }}|{{ seq 2 4 }}|{{ seq 1 2 5 }}|{{ seq 3 1 }}|{{ seq }}|{{ seq 1 0 5 }}|{{ seq 1 }}`, "1 2 3|2 3 4|1 3 5|3 2 1|||1"},
		{"indent", `{{ "a" | indent 2 }}{{ "b" | nindent 1 | replace "\n" "|" }}`, "  a| b"},
		{"a function that changes a copy", `{{ $_ := set .Spec "size" 5 }}{{ .Spec.size }}`, "5"},
		{"a merge", `{{ merge (dict "a" 1) .Spec .Config | toJson | replace "\"" "" }}`, "{a:1,large:9007199254740993,music:none,parts:{a:1},size:3}"},
		{"a merge over", `{{ (mergeOverwrite .Spec (dict "size" 4) .Config).size }}{{ (mustMerge .Spec (dict "size" 5)).size }}`, "44"},
		{"a merge with what is around it", `{{ merge .Spec . | keys | len }}`, "12"},
		{"a merge keeps values that aren't JSON", `{{ (merge (dict) (dict "v" (semver "1.2.3"))).v.Major }}`, "1"},
		{"a merge copies", `{{ $a := dict }}{{ $_ := merge $a .Spec }}{{ $_ := set $a.parts "b" 2 }}{{ len .Spec.parts }}`, "1"},
		{"a function of package template", `{{ and .Name (eq .Spec.size 3) (index .Spec "size") | printf "%03d" }}`, "003"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, map[string]any{"x": row.want}, data(t, "  x: '"+row.template+"'"))
			assert.Equal(t, 3, tea.Spec["size"], "what was given isn't changed")
		})
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	parsed, err := Parse(folder(map[string]string{
		"d/web/a.yaml": config("  x: {{ file \"x.conf\" | quote }}\n  w: {{ file \"../shared/y.conf\" | quote }}"), "d/web/x.conf": "{{ x }}", "d/shared/y.conf": "y",
	}), "d")
	require.NoError(t, err)
	objects, err := parsed.Render("web", tea)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"w": "y", "x": "{{ x }}"}, objects[0].Object["data"])

	_, err = set(t, config("  x: {{ file \"../../etc/passwd\" }}")).Render("web", tea)
	assert.EqualError(t, err, `deploy/web/a.yaml:5:9: file "../../etc/passwd": folder deploy/web has no such file, or it is a template`)
}

// Numbers in what is rendered are what a cluster would read.
func TestNumbers(t *testing.T) {
	t.Parallel()
	objects, err := set(t, "apiVersion: v1\nkind: Thing\nmetadata: {name: a}\nspec: {i: {{ .Spec.size }}, big: 9007199254740993, f: 0.5, t: \"1\", b: yes, none: null, v: {{ 1e6 }}}").Render("web", tea)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"i": int64(3), "big": int64(9007199254740993), "f": 0.5, "t": "1", "b": true, "none": nil, "v": int64(1000000)}, objects[0].Object["spec"])
}

func TestLists(t *testing.T) {
	t.Parallel()
	objects, err := set(t, `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata: {name: b}
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: c}}
---
apiVersion: example.com/v1
kind: AllowList
metadata: {name: none of those}
---
# JSON is YAML
{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "d-"}}
--- {apiVersion: v1, kind: ConfigMap, metadata: {name: e}}
...
apiVersion: v1
kind: ConfigMap
metadata: {name: f}
`).Render("web", tea)
	require.NoError(t, err)
	assert.Equal(t, []string{"ConfigMap a", "ConfigMap b", "ConfigMap c", "AllowList none of those", "ConfigMap", "ConfigMap e", "ConfigMap f"}, namesOf(objects))
}

func TestLinesOfWindows(t *testing.T) {
	t.Parallel()
	objects, err := set(t, "apiVersion: v1\r\nkind: A\r\nmetadata: {name: a}\r\n---\r\napiVersion: v1\r\nkind: A\r\nmetadata: {name: b}\r\n").Render("web", tea)
	require.NoError(t, err)
	assert.Equal(t, []string{"A a", "A b"}, namesOf(objects))
}

// A file that changes its values doesn't change another file's.
func TestFilesShareNothing(t *testing.T) {
	t.Parallel()
	parsed, err := Parse(folder(map[string]string{
		"a.yaml": "{{ $_ := set .Spec \"size\" 7 }}{{ $_ := unset .Values \"password\" }}" + config("  x: '{{ .Spec.size }}'"),
		"b.yaml": config("  x: '{{ .Spec.size }}{{ .Values.password }}'"),
	}), ".")
	require.NoError(t, err)
	for range 2 {
		objects, err := parsed.Render(".", tea)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"x": "7"}, objects[0].Object["data"])
		assert.Equal(t, map[string]any{"x": "3hunter2"}, objects[1].Object["data"])
	}
}

func TestConcurrentRenders(t *testing.T) {
	t.Parallel()
	parsed := set(t, config("  x: {{ scopedName \"web\" }}\n  w: {{ include \"labels\" . | quote }}\n  z: '{{ (set .Spec \"size\" .Name).size }}'"))
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			name := fmt.Sprint("tea", i)
			for range 20 {
				objects, err := parsed.Render("web", Data{Name: name, Spec: tea.Spec})
				if assert.NoError(t, err) {
					assert.Equal(t, map[string]any{"x": name + "-web", "w": "a: " + name + "\nb: c", "z": name}, objects[0].Object["data"])
				}
			}
		})
	}
	all.Wait()
}

// leftOut are the functions of the library that aren't there, by what they look at.
var leftOut = map[string]string{
	"environment": "env expandenv",
	"network":     "getHostByName",
	"clock or time zone": `ago date dateInZone dateModify date_in_zone date_modify durationRound htmlDate htmlDateInZone mustDateModify mustToDate
		must_date_modify now toDate unixEpoch`,
	"chance": `bcrypt encryptAES genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert
		genSignedCertWithKey htpasswd randAlpha randAlphaNum randAscii randBytes randInt randNumeric shuffle uuidv4`,
	"operating system":                       "osBase osClean osDir osExt osIsAbs",
	"secrets, which Session.Generated makes": "buildCustomCert decryptAES derivePassword",
	"nothing that anybody needs":             "hello",
}

// Each function of the library is either kept, replaced or left out: a new one has to be judged.
func TestEveryFunctionIsJudged(t *testing.T) {
	t.Parallel()
	judged := map[string]string{}
	judge := func(names []string, verdict string) {
		for _, name := range names {
			assert.Empty(t, judged[name], name)
			judged[name] = verdict
		}
	}
	judge(kept, "kept")
	for name := range ownFunctions {
		if sprigFunctions[name] != nil {
			judge([]string{name}, "replaced")
		}
	}
	for reason, names := range leftOut {
		judge(strings.Fields(names), reason)
	}
	assert.Equal(t, slices.Sorted(maps.Keys(sprigFunctions)), slices.Sorted(maps.Keys(judged)))
	for name, verdict := range judged {
		_, err := Parse(folder(map[string]string{"a.yaml": "{{ " + name + " }}"}), ".")
		if verdict == "kept" || verdict == "replaced" {
			assert.NoError(t, err, name)
		} else {
			assert.ErrorContains(t, err, "not defined", name)
		}
	}
}

// What was left out for being impure may be brought along by an author who knows better.
func TestFuncsOfTheAuthor(t *testing.T) {
	t.Parallel()
	objects, err := set(t, config("  x: {{ now }}"), Funcs(template.FuncMap{"now": func() string { return "teatime" }})).Render("web", tea)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"x": "teatime"}, objects[0].Object["data"])
}

func TestDataThatCannotBe(t *testing.T) {
	t.Parallel()
	_, err := set(t, config("")).Render("web", Data{Values: map[string]any{"a": make(chan int)}})
	assert.ErrorContains(t, err, "Values: a value of type map[string]interface {} can't be converted")
	objects, err := set(t, config("  x: {{ .Values.at | quote }}")).Render("web", Data{Values: map[string]any{"at": time.Unix(0, 0).UTC()}})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"x": "1970-01-01T00:00:00Z"}, objects[0].Object["data"])
}

func BenchmarkRender(b *testing.B) {
	files := map[string]string{"helpers.tpl": helpers}
	for i := range 10 {
		files[fmt.Sprintf("web/%d.yaml", i)] = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {{ scopedName \"web\" }}\n  labels:\n    {{- include \"labels\" . | nindent 4 }}\n" +
			"spec:\n  replicas: {{ .Spec.size }}\n  template:\n    spec:\n      containers:\n      {{- range until 3 }}\n      - name: c{{ . }}\n        image: {{ $.Values.password | quote }}\n      {{- end }}\n"
	}
	parsed, err := Parse(folder(files), ".")
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parsed.Render("web", tea); err != nil {
			b.Fatal(err)
		}
	}
}
