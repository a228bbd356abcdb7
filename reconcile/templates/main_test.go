package templates

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// folder is a file system of these files.
func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// set parses one file, web/a.yaml, and helpers.
func set(t testing.TB, text string, options ...Option) *Templates {
	t.Helper()
	parsed, err := Parse(folder(map[string]string{"deploy/web/a.yaml": text, "deploy/helpers.tpl": helpers}), "deploy", options...)
	require.NoError(t, err)
	return parsed
}

const helpers = `{{ define "labels" -}}
a: {{ .Name }}
b: c
{{- end }}
{{ define "missing" }}{{ .Nope }}{{ end }}
{{ define "credentials" }}
apiVersion: v1
kind: Secret
metadata: {name: credentials}
{{- end }}
{{ define "itself" }}{{ include "itself" . }}{{ end }}
`

// config is a ConfigMap whose data are given, from line 5 on.
func config(data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n" + data
}

var tea = Data{
	Name: "tea", Namespace: "market", APIVersion: "example.com/v1", Kind: "Shop", Version: "1.2",
	Metadata: map[string]any{"uid": "1"}, Spec: map[string]any{"size": 3, "large": int64(9007199254740993), "parts": map[string]any{"a": 1}},
	Config: map[string]any{"music": "none"}, Values: map[string]any{"password": "hunter2"},
}

// data renders a ConfigMap and returns its data.
func data(t testing.TB, lines string) any {
	t.Helper()
	objects, err := set(t, config(lines)).Render("web", tea)
	require.NoError(t, err)
	require.Len(t, objects, 1)
	return objects[0].Object["data"]
}

func namesOf(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		names = append(names, nameOf(object))
	}
	return names
}
