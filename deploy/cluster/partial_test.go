package cluster_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// A kind that is held as metadata: what it costs to apply its objects, and what readers see of them.
func TestMetadataOnly(t *testing.T) {
	t.Parallel()
	env := envtest.Start(t)
	open := func() (*cluster.Cluster, func()) {
		return endingCluster(t, env.Config, cluster.Namespaces(env.Namespace), cluster.MetadataOnly(configMap.GroupKind(), service.GroupKind()))
	}
	c, end := open()
	events := make(chan deploy.Event, 100)
	subscription, err := c.View().Subscribe(t.Context(), configMap, func(event deploy.Event) { events <- event })
	require.NoError(t, err)
	require.NoError(t, subscription.Synced(t.Context()))
	watch(t, c, service)
	intent := object(t, env.Namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {app: web}}\ndata: {a: ours, b: ours}")
	selecting := object(t, env.Namespace, "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {selector: {app: web}, ports: [{port: 80}]}")
	ref := deploy.RefOf(intent)
	m := must(deploy.NewManager(c))
	calls := func(t *testing.T, m *deploy.Manager, obj *unstructured.Unstructured, want deploy.Action, sent map[string]int, reason string) deploy.Result {
		t.Helper()
		mark := env.Mark(t)
		result := apply(t, m, obj)
		assert.Equal(t, want, result.Action, reason)
		assert.Equal(t, sent, env.CallsSince(t, mark, env.Self).Count(), reason)
		return result
	}
	none, read := map[string]int{}, map[string]int{"get configmaps": 1}
	patched := func(resource string) map[string]int { return map[string]int{"patch " + resource: 1} }

	created := calls(t, m, intent, deploy.Created, patched("configmaps"), "a new object")
	assertOnlyMetadata(t, created.Object, configMap)
	assert.NotEmpty(t, created.Object.GetManagedFields())
	calls(t, m, intent, deploy.Unchanged, none, "right after the own write, be it seen or not")
	event := <-events
	assert.Equal(t, deploy.Added, event.Type)
	assertOnlyMetadata(t, event.New, configMap)

	t.Run("reads of content are live", func(t *testing.T) {
		mark := env.Mark(t)
		obj, err := c.View().Get(t.Context(), ref)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"a": "ours", "b": "ours"}, obj.Object["data"])
		assert.Equal(t, read, env.CallsSince(t, mark, env.Self).Count())
		all, err := c.View().List(t.Context(), configMap, env.Namespace, nil)
		require.NoError(t, err)
		for _, obj := range all {
			assert.Contains(t, obj.Object, "data")
		}
	})
	t.Run("drift is seen by the fields that are owned", func(t *testing.T) {
		edit(t, others(t, env, configMap), "settings", `{"data":{"a":"theirs"}}`)
		awaitEvent(t, events, func(event deploy.Event) bool { return len(event.New.GetManagedFields()) == 2 })
		repaired := calls(t, m, intent, deploy.Configured, patched("configmaps"), "whoever has taken a field has changed it: it is taken back")
		assert.Len(t, repaired.Taken, 1)
		calls(t, m, intent, deploy.Unchanged, none, "repaired")
		obj, err := c.Port().Get(t.Context(), ref)
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"a": "ours", "b": "ours"}, obj.Object["data"])
	})
	t.Run("another intent over what others hold is looked at closely", func(t *testing.T) {
		edit(t, others(t, env, configMap), "settings", `{"data":{"c":"theirs"}}`)
		awaitEvent(t, events, func(event deploy.Event) bool { return len(event.New.GetManagedFields()) == 2 })
		other := object(t, env.Namespace, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, labels: {app: web}}\ndata: {a: ours, b: ours, c: theirs}")
		same := calls(t, m, other, deploy.Configured, map[string]int{"get configmaps": 1, "patch configmaps": 1}, "it may have the value that is wanted")
		assert.Empty(t, same.Taken, "as here")
		calls(t, m, intent, deploy.Configured, patched("configmaps"), "given back")
	})
	t.Run("a field that was removed", func(t *testing.T) {
		version := apply(t, m, intent).Object.GetResourceVersion()
		edit(t, others(t, env, configMap), "settings", `{"data":{"a":null}}`)
		awaitEvent(t, events, func(event deploy.Event) bool {
			order, err := resourceversion.CompareResourceVersion(event.New.GetResourceVersion(), version)
			return err == nil && order > 0
		})
		calls(t, m, intent, deploy.Configured, patched("configmaps"), "nobody holds it: one apply")
	})
	another := object(t, env.Namespace, "apiVersion: v1\nkind: Service\nmetadata: {name: other}\nspec: {selector: {app: other}, ports: [{port: 80}]}")
	t.Run("a map that is owned as a whole", func(t *testing.T) {
		created := calls(t, m, selecting, deploy.Created, patched("services"), "new")
		assertOnlyMetadata(t, created.Object, service)
		calls(t, m, selecting, deploy.Unchanged, none, "the first answer of the kind showed that the selector is such a map")
		calls(t, m, another, deploy.Created, patched("services"), "new")
		calls(t, m, another, deploy.Unchanged, none, "known of the kind")
		edit(t, others(t, env, service), "other", `{"metadata":{"labels":{"theirs":"x"}}}`)
		eventually(t, c, deploy.RefOf(another), func(obj *unstructured.Unstructured) bool { return obj.GetLabels()["theirs"] != "" })
		calls(t, m, another, deploy.Unchanged, none, "also of a state that no answer showed")
	})
	end()

	again, end := open()
	defer end()
	watch(t, again, configMap, service)
	m = must(deploy.NewManager(again))
	calls(t, m, intent, deploy.Unchanged, none, "after a restart")
	calls(t, m, selecting, deploy.Unchanged, map[string]int{"get services": 1}, "after a restart nothing is known of the kind: its selector may have been emptied")
	calls(t, m, another, deploy.Unchanged, none, "one look shows it")
}

func assertOnlyMetadata(t testing.TB, obj *unstructured.Unstructured, kind schema.GroupVersionKind) {
	t.Helper()
	assert.Equal(t, kind, obj.GroupVersionKind())
	for field := range obj.Object {
		assert.Contains(t, []string{"apiVersion", "kind", "metadata"}, field)
	}
}

// awaitEvent takes events until one is as wanted.
func awaitEvent(t testing.TB, events <-chan deploy.Event, wanted func(deploy.Event) bool) {
	t.Helper()
	for {
		select {
		case event := <-events:
			if wanted(event) {
				return
			}
		case <-t.Context().Done():
			require.Fail(t, "no such event")
		}
	}
}
