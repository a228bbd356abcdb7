package main

import (
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/operkit/operkit/examples/shop/api/v1"
	v2 "github.com/operkit/operkit/examples/shop/api/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// definition is the file with the definition that is shipped.
const definition = "config/crd/examples.operkit.dev_shops.yaml"

func readDefinition(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(definition)
	require.NoError(t, err)
	read := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal(text, &read.Object))
	return read
}

// oldDefinition writes the definition of a release that had version 1 only, and returns the file.
func oldDefinition(t *testing.T) string {
	t.Helper()
	return definitionOf(t, "v1")
}

// newDefinition writes the definition of a release that has version 2 only, and returns the file.
func newDefinition(t *testing.T) string {
	t.Helper()
	return definitionOf(t, "v2")
}

// definitionOf writes a definition with one version, which needs no conversion, and returns the file.
func definitionOf(t *testing.T, only string) string {
	t.Helper()
	crd := readDefinition(t)
	versions, _, err := unstructured.NestedSlice(crd.Object, "spec", "versions")
	require.NoError(t, err)
	for _, version := range versions {
		version := version.(map[string]any)
		if version["name"] == only {
			version["storage"] = true
			require.NoError(t, unstructured.SetNestedSlice(crd.Object, []any{version}, "spec", "versions"))
		}
	}
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	text, err := yaml.Marshal(crd.Object)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), only+".yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return file
}

// The definition has the rules of the Go code and no other.
func TestDefinitionHasTheRules(t *testing.T) {
	t.Parallel()
	shipped := readDefinition(t)
	made := readDefinition(t)
	withoutRules(made.Object)
	made, err := v1.Rules.AddTo(made, "v1")
	require.NoError(t, err)
	made, err = v2.Rules.AddTo(made, "v2")
	require.NoError(t, err)
	assert.Equal(t, shipped, made, "stale: run make generate")
}

// withoutRules removes all rules from a schema.
func withoutRules(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "x-kubernetes-validations")
		for _, inner := range value {
			withoutRules(inner)
		}
	case []any:
		for _, inner := range value {
			withoutRules(inner)
		}
	}
}
