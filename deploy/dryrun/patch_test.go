package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func statusPatch(body string) deploy.PatchRequest {
	return deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(body), Subresource: "status", FieldManager: "operkit"}
}

func TestPatchStatus(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, dryrun.Objects(object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1}}")))
	ref := deploy.Ref{Kind: deployment, Namespace: "shop", Name: "web"}
	before := get(t, cluster, ref)
	obj, err := cluster.Port().Patch(t.Context(), ref, statusPatch(`{"metadata":{"labels":{"a":"b"}},"spec":{"replicas":5},"status":{"readyReplicas":1}}`))
	require.NoError(t, err)

	t.Run("deploy W19: the status subresource changes the status alone", func(t *testing.T) {
		assert.Equal(t, map[string]any{"readyReplicas": int64(1)}, obj.Object["status"])
		assert.Equal(t, before.Object["spec"], obj.Object["spec"])
		assert.Empty(t, obj.GetLabels())
	})
	t.Run("deploy W16: the status leaves the generation", func(t *testing.T) {
		assert.Equal(t, before.GetGeneration(), obj.GetGeneration())
		assert.NotEqual(t, before.GetResourceVersion(), obj.GetResourceVersion())
	})
	t.Run("its fields are owned through the subresource", func(t *testing.T) {
		// Patched by one who never applied, an object without managers has none, as on a server.
		fresh := newCluster(t)
		manifest := object(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}, spec: {replicas: 1}}")
		apply(t, fresh, "operkit", manifest)
		obj, err := fresh.Port().Patch(t.Context(), ref, statusPatch(`{"status":{"readyReplicas":1}}`))
		require.NoError(t, err)
		assert.Equal(t, `{"f:status":{".":{},"f:readyReplicas":{}}}`, owned(obj, "operkit", "Update", "status"))
		assert.Equal(t, `{"f:spec":{"f:replicas":{}}}`, owned(obj, "operkit", "Apply", ""))
	})
	t.Run("a patch of the object leaves the status", func(t *testing.T) {
		patched := merge(t, cluster, ref, "kubectl", `{"status":{"readyReplicas":9},"spec":{"replicas":2}}`)
		assert.Equal(t, map[string]any{"readyReplicas": int64(1)}, patched.Object["status"])
		assert.Equal(t, before.GetGeneration()+1, patched.GetGeneration())
	})
	t.Run("the same status again keeps the version", func(t *testing.T) {
		latest := get(t, cluster, ref)
		again, err := cluster.Port().Patch(t.Context(), ref, statusPatch(`{"status":{"readyReplicas":1}}`))
		require.NoError(t, err)
		assert.Equal(t, latest, again)
	})
}

func TestPatchJSON(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	before := apply(t, cluster, "operkit", settings(t, "{a: '1', b: '2'}"))
	ref := deploy.RefOf(before)
	obj, err := cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{
		Type: types.JSONPatchType, FieldManager: "kubectl",
		Body: []byte(`[{"op":"test","path":"/data/a","value":"1"},{"op":"replace","path":"/data/a","value":"9"},{"op":"remove","path":"/data/b"}]`),
	})
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"a": "9"}, data(obj))
	assert.Equal(t, `{"f:data":{"f:a":{}}}`, owned(obj, "kubectl", "Update", ""))
	_, err = cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{
		Type: types.JSONPatchType, Body: []byte(`[{"op":"test","path":"/data/a","value":"1"}]`),
	})
	var invalid *deploy.InvalidError
	require.ErrorAs(t, err, &invalid, "a test that fails")
}

func TestPatchRefuses(t *testing.T) {
	t.Parallel()
	ref := deploy.Ref{Kind: configMap, Namespace: "shop", Name: "settings"}
	stale := func() any { return new(*deploy.StaleError) }
	invalid := func() any { return new(*deploy.InvalidError) }
	absent := func() any { return new(*deploy.NotFoundError) }
	for name, test := range map[string]struct {
		ref   deploy.Ref
		patch deploy.PatchRequest
		want  func() any
	}{
		"an older resourceVersion":             {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"resourceVersion":"99"},"data":{"a":"2"}}`)}, stale},
		"an older resourceVersion of a status": {cartRef, statusPatch(`{"metadata":{"resourceVersion":"99"},"status":{"a":"2"}}`), stale},
		"a predecessor's uid":                  {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"uid":"x"},"data":{"a":"2"}}`)}, stale},
		"a predecessor's uid with a status":    {cartRef, statusPatch(`{"metadata":{"uid":"x"},"status":{"a":"2"}}`), stale},
		"another name":                         {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"name":"x"}}`)}, invalid},
		"another namespace":                    {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"namespace":"x"}}`)}, invalid},
		"another kind":                         {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"kind":"Secret"}`)}, invalid},
		"no kind":                              {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"kind":null}`)}, invalid},
		"labels that are a list":               {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"labels":["a"]}}`)}, invalid},
		"an owner that is text":                {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"ownerReferences":["a"]}}`)}, invalid},
		"a deletionTimestamp":                  {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"metadata":{"deletionTimestamp":"2030-01-01T00:00:00Z"}}`)}, invalid},
		"no JSON":                              {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{`)}, invalid},
		"a strategic merge patch":              {ref, deploy.PatchRequest{Type: types.StrategicMergePatchType, Body: []byte(`{}`)}, invalid},
		"an absent object":                     {deploy.Ref{Kind: configMap, Namespace: "shop", Name: "x"}, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{}`)}, absent},
		"a status where there is none":         {ref, statusPatch(`{"status":{"a":"2"}}`), absent},
		"another subresource":                  {ref, deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{}`), Subresource: "scale"}, absent},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
			apply(t, cluster, "operkit", cart(t, "{size: 1}"))
			before := cluster.Objects()
			_, err := cluster.Port().Patch(t.Context(), test.ref, test.patch)
			require.ErrorAs(t, err, test.want())
			assert.Equal(t, before, cluster.Objects())
		})
	}
	t.Run("an apply patch belongs to Apply", func(t *testing.T) {
		t.Parallel()
		_, err := newCluster(t).Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.ApplyPatchType, Body: []byte(`{}`)})
		require.ErrorContains(t, err, "use Apply")
	})
}

func TestPatchServerFields(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	before := apply(t, cluster, "operkit", cart(t, "{size: 1}"))
	obj := merge(t, cluster, deploy.RefOf(before), "kubectl",
		`{"metadata":{"creationTimestamp":null,"generation":50,"uid":null,"resourceVersion":null},"spec":{"b":"1"}}`)
	assert.Equal(t, before.GetUID(), obj.GetUID())
	assert.Equal(t, before.GetCreationTimestamp(), obj.GetCreationTimestamp())
	assert.EqualValues(t, 2, obj.GetGeneration())
	assert.Equal(t, "2", obj.GetResourceVersion(), "without a version a write is unconditional")
}
