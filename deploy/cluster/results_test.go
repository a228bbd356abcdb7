package cluster_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// The result of a write belongs to the caller, who may change it.
func TestResultsBelongToTheCaller(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	v := newValve(func(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/configmaps") })
	c := newCluster(t, v.between(env.Config), cluster.Namespaces(env.Namespace))
	watch(t, c, configMap)
	v.shut() // so that reads show the responses
	defer v.open()
	ctx, port := t.Context(), c.Port()
	manifest := object(t, env.Namespace, "{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, labels: {a: ours}}, data: {a: ours}}")
	ref := deploy.RefOf(manifest)
	for _, write := range []struct {
		verb string
		do   func() (*unstructured.Unstructured, error)
	}{
		{"create", func() (*unstructured.Unstructured, error) {
			return port.Create(ctx, manifest, deploy.CreateOptions{FieldManager: "m"})
		}},
		{"apply", func() (*unstructured.Unstructured, error) {
			applied, err := port.Apply(ctx, manifest, deploy.ApplyOptions{FieldManager: "n"})
			return applied.Object, err
		}},
		{"update", func() (*unstructured.Unstructured, error) {
			live, err := port.Get(ctx, ref)
			require.NoError(t, err)
			live.SetAnnotations(map[string]string{"updated": "yes"})
			return port.Update(ctx, live, deploy.UpdateOptions{FieldManager: "m"})
		}},
		{"patch", func() (*unstructured.Unstructured, error) {
			return port.Patch(ctx, ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"data":{"b":"ours"}}`), FieldManager: "m"})
		}},
	} {
		obj, err := write.do()
		require.NoError(t, err, write.verb)
		version := obj.GetResourceVersion()
		require.NoError(t, unstructured.SetNestedField(obj.Object, "changed", "data", "a"))
		require.NoError(t, unstructured.SetNestedField(obj.Object, "changed", "metadata", "labels", "a"))
		shown, err := c.View().Get(ctx, ref)
		require.NoError(t, err)
		assert.Equal(t, version, shown.GetResourceVersion(), write.verb)
		assert.Equal(t, "ours", shown.Object["data"].(map[string]any)["a"], write.verb)
		assert.Equal(t, "ours", shown.GetLabels()["a"], write.verb)
	}
}
