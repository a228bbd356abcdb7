package usercases

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// documents are the objects of a file below testdata, those of lists one by one, as a backup tool restores them:
// without what the server they come from has set.
func documents(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	objects := parse(t, content)
	for _, obj := range objects {
		unstructured.RemoveNestedField(obj.Object, "metadata", "creationTimestamp")
		unstructured.RemoveNestedField(obj.Object, "metadata", "generation")
		unstructured.RemoveNestedField(obj.Object, "status")
	}
	return objects
}

// parse reads the objects of a text, YAML or JSON, and those of lists one by one.
func parse(t *testing.T, text []byte) (objects []*unstructured.Unstructured) {
	t.Helper()
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		require.NoError(t, err)
		content, err := yaml.YAMLToJSONStrict(document)
		require.NoError(t, err)
		if string(content) == "null" { // comments alone
			continue
		}
		obj := &unstructured.Unstructured{}
		require.NoError(t, obj.UnmarshalJSON(content))
		if !obj.IsList() {
			objects = append(objects, obj)
			continue
		}
		require.NoError(t, obj.EachListItem(func(item runtime.Object) error {
			objects = append(objects, item.(*unstructured.Unstructured))
			return nil
		}))
	}
}
