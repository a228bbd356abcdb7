package manifest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var shops = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}

func shop(namespace, name string) deploy.Ref {
	return deploy.Ref{Kind: shops, Namespace: namespace, Name: name}
}

// object is one in YAML.
func object(t testing.TB, text string) *unstructured.Unstructured {
	t.Helper()
	document, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	obj := &unstructured.Unstructured{}
	require.NoError(t, obj.UnmarshalJSON(document))
	return obj
}

func settings(t testing.TB, name string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "+name+"}}")
}

func secret(t testing.TB) *unstructured.Unstructured {
	t.Helper()
	return object(t, "{apiVersion: v1, kind: Secret, metadata: {name: key}, data: {a: aHVudGVyMg==, b: eA==}, stringData: {c: hunter2}}")
}

func component(t testing.TB, name string, objects ...string) Component {
	t.Helper()
	c := Component{Name: name}
	for _, name := range objects {
		c.Objects = append(c.Objects, settings(t, name))
	}
	return c
}

func open(t testing.TB, name string, options ...Option) *Directory {
	t.Helper()
	d, err := Open(name, options...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// files lists what is below a directory, and how it may be read.
func files(t testing.TB, directory string) []string {
	t.Helper()
	var names []string
	require.NoError(t, filepath.WalkDir(directory, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		below, err := filepath.Rel(directory, name)
		names = append(names, filepath.ToSlash(below))
		return err
	}))
	return names
}

func content(t testing.TB, name ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(name...))
	require.NoError(t, err)
	return string(text)
}
