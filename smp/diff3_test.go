package smp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An element that isn't a map has no key, even if each key has a default.
func TestDiff3ElementsWithoutFields(t *testing.T) {
	t.Parallel()
	schema, err := SchemaFromCRD(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"spec": map[string]any{
			"group": "shop.example.com", "names": map[string]any{"kind": "Gateway"},
			"versions": []any{map[string]any{"name": "v1", "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object",
				"properties": map[string]any{"ports": map[string]any{
					"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"protocol"},
					"items": map[string]any{"type": "object", "properties": map[string]any{
						"protocol": map[string]any{"type": "string", "default": "TCP"},
					}},
				}},
			}}}},
		},
	}, "v1")
	require.NoError(t, err)
	odd := map[string]any{"ports": []any{"web"}}
	even := map[string]any{"ports": []any{map[string]any{"protocol": "UDP"}}}
	for reason, documents := range map[string][3]map[string]any{
		"original": {odd, even, even}, "modified": {even, odd, even}, "current": {even, even, odd}, "all": {odd, odd, odd},
	} {
		assert.NotPanics(t, func() { _, _ = Diff3(documents[0], documents[1], documents[2], schema) }, reason)
	}
}
