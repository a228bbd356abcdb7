package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Empty lists of metadata in a write are nobody's, since they aren't stored. An empty list of managers
// takes them away from an object of Kubernetes, and means none in a custom resource.
func TestEmptyMetadataInWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		manifest string
		reset    bool
	}{
		"of Kubernetes": {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: shop}, data: {a: b}}", true},
		"custom":        {"{apiVersion: shop.example.com/v1, kind: Shelf, metadata: {name: a, namespace: shop}, spec: {color: red}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.Objects(object(t, shelves)))
			require.NoError(t, err)
			applied := apply(t, cluster, "m", object(t, test.manifest))
			replace := func(change func(metadata map[string]any)) *unstructured.Unstructured {
				next := get(t, cluster, deploy.RefOf(applied)).DeepCopy()
				change(next.Object["metadata"].(map[string]any))
				stored, err := cluster.Port().Update(t.Context(), next, deploy.UpdateOptions{FieldManager: "other"})
				require.NoError(t, err)
				return stored
			}
			stored := replace(func(metadata map[string]any) {
				metadata["finalizers"], metadata["labels"] = []any{}, map[string]any{}
			})
			assert.Nil(t, owned(stored, "other", "Update", ""))
			assert.Equal(t, applied.GetResourceVersion(), stored.GetResourceVersion(), "nothing was changed")
			assert.Nil(t, owned(merge(t, cluster, deploy.RefOf(applied), "other", `{"metadata":{"finalizers":[]}}`), "other", "Update", ""))

			stored = replace(func(metadata map[string]any) { metadata["managedFields"] = []any{} })
			assert.Equal(t, test.reset, len(stored.GetManagedFields()) == 0)
			stored = replace(func(metadata map[string]any) { metadata["managedFields"] = []any{map[string]any{}} })
			assert.Empty(t, stored.GetManagedFields(), "this takes them away from both")
		})
	}
}
