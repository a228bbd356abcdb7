package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// scaled is what a change of the replicas through the scale subresource leaves behind.
func scaled(t testing.TB, cluster *recording, manager string) *recording {
	t.Helper()
	return restarted(t, cluster, func(obj *unstructured.Unstructured) {
		obj.Object["spec"].(map[string]any)["replicas"] = int64(5)
		entries := obj.Object["metadata"].(map[string]any)["managedFields"].([]any)
		for _, entry := range entries {
			fields, _, err := unstructured.NestedMap(entry.(map[string]any), "fieldsV1", "f:spec")
			require.NoError(t, err)
			delete(fields, "f:replicas")
			delete(fields, ".")
			if len(fields) == 0 {
				unstructured.RemoveNestedField(entry.(map[string]any), "fieldsV1", "f:spec")
			} else {
				require.NoError(t, unstructured.SetNestedMap(entry.(map[string]any), fields, "fieldsV1", "f:spec"))
			}
		}
		obj.SetManagedFields(append(obj.GetManagedFields(), metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: "scale",
			APIVersion: "apps/v1", FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:replicas":{}}}`),
		}))
	})
}

func TestScaledFields(t *testing.T) {
	t.Parallel()
	intent := func(paused string) *unstructured.Unstructured {
		return web(t, "{replicas: 1, paused: "+paused+"}")
	}
	ref := deploy.RefOf(intent("false"))
	spec := func(cluster *recording) map[string]any { return cluster.get(t, ref).Object["spec"].(map[string]any) }
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster)), intent("false"))

	t.Run("deploy W5: a scaler's replicas are no drift", func(t *testing.T) {
		cluster := scaled(t, cluster, "hpa")
		for range 3 {
			assert.Equal(t, deploy.Unchanged, apply(t, must(deploy.NewManager(cluster)), intent("false")).Action)
		}
		assert.Empty(t, cluster.take())
		assert.EqualValues(t, 5, spec(cluster)["replicas"])
	})
	t.Run("deploy W5: a change of another field leaves them", func(t *testing.T) {
		cluster := scaled(t, cluster, "hpa")
		m := must(deploy.NewManager(cluster))
		assert.Equal(t, deploy.Configured, apply(t, m, intent("true")).Action)
		assert.NotContains(t, cluster.applied(t).Object["spec"], "replicas")
		assert.Equal(t, map[string]any{"replicas": int64(5), "paused": true}, spec(cluster))
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, m, intent("true")).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("an intent of nothing else settles too", func(t *testing.T) {
		alone := newCluster(t)
		apply(t, must(deploy.NewManager(alone)), web(t, "{replicas: 1}"))
		cluster := scaled(t, alone, "hpa")
		assert.Equal(t, deploy.Unchanged, apply(t, must(deploy.NewManager(cluster)), web(t, "{replicas: 1}")).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("with the scaler's entry gone they are ours again", func(t *testing.T) {
		cluster := restarted(t, scaled(t, cluster, "hpa"), func(obj *unstructured.Unstructured) {
			entries := obj.GetManagedFields()
			obj.SetManagedFields(entries[:len(entries)-1])
		})
		m := must(deploy.NewManager(cluster))
		assert.Equal(t, deploy.Configured, apply(t, m, intent("false")).Action)
		assert.EqualValues(t, 1, spec(cluster)["replicas"])
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, m, intent("false")).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("replicas changed otherwise are repaired", func(t *testing.T) {
		cluster := restarted(t, cluster, func(*unstructured.Unstructured) {})
		cluster.edit(t, ref, `{"spec":{"replicas":5}}`)
		assert.Equal(t, deploy.Configured, apply(t, must(deploy.NewManager(cluster)), intent("false")).Action)
		assert.EqualValues(t, 1, spec(cluster)["replicas"])
	})
	t.Run("our own scaling doesn't keep us out", func(t *testing.T) {
		cluster := scaled(t, cluster, "operkit")
		assert.Equal(t, deploy.Configured, apply(t, must(deploy.NewManager(cluster)), intent("false")).Action)
		assert.EqualValues(t, 1, spec(cluster)["replicas"])
	})
}

// What a scaler has set meanwhile isn't taken along by force: that is for the state that was looked at.
func TestScaledBehindTheView(t *testing.T) {
	t.Parallel()
	intent := func(paused string) *unstructured.Unstructured {
		return web(t, "{replicas: 1, paused: "+paused+"}")
	}
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster)), intent("false"))
	cluster.edit(t, deploy.RefOf(intent("false")), `{"spec":{"paused":true}}`)
	old := cluster.get(t, deploy.RefOf(intent("false")))
	cluster = scaled(t, cluster, "hpa")
	cluster.stale = old
	result := apply(t, must(deploy.NewManager(&staleCluster{recording: cluster})), intent("false"))
	require.NoError(t, result.Err)
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, map[string]any{"replicas": int64(5), "paused": false}, cluster.get(t, deploy.RefOf(old)).Object["spec"])
	for _, taken := range result.Taken {
		assert.NotEqual(t, ".spec.replicas", taken.Field)
	}
}

func TestReplaceKeepsWhatIsScaled(t *testing.T) {
	t.Parallel()
	intent := func(paused string) *unstructured.Unstructured {
		return web(t, "{replicas: 1, paused: "+paused+"}")
	}
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Replace))), intent("false"))
	cluster = scaled(t, cluster, "hpa")
	m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(deploy.Replace)))
	assert.Equal(t, deploy.Unchanged, apply(t, m, intent("false")).Action)
	assert.Empty(t, cluster.take())
	assert.Equal(t, deploy.Replaced, apply(t, m, intent("true")).Action)
	assert.Equal(t, map[string]any{"replicas": int64(5), "paused": true}, cluster.get(t, deploy.RefOf(intent("true"))).Object["spec"])
}
