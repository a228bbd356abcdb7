package deploy_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// diff returns what an apply would make of one object.
func diff(t testing.TB, m *deploy.Manager, obj *unstructured.Unstructured, options ...deploy.Option) deploy.Difference {
	t.Helper()
	before := obj.DeepCopy()
	differences, err := m.Diff(t.Context(), objects(obj), options...)
	require.Len(t, differences, 1)
	require.Equal(t, differences[0].Err == nil, err == nil)
	require.Equal(t, before, obj, "inputs aren't changed")
	return differences[0]
}

func TestDiff(t *testing.T) {
	t.Parallel()
	applied := func(t *testing.T) (*recording, *deploy.Manager) {
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		require.NoError(t, apply(t, m, settings(t, "{a: '1', b: '2'}")).Err)
		cluster.edit(t, settingsRef, `{"data":{"c":"3"}}`)
		cluster.take()
		return cluster, m
	}
	t.Run("unchanged: no call", func(t *testing.T) {
		t.Parallel()
		cluster, m := applied(t)
		got := diff(t, m, settings(t, "{a: '1', b: '2'}"))
		assert.Equal(t, deploy.Difference{Ref: settingsRef, Action: deploy.Unchanged}, got)
		assert.Empty(t, cluster.take())
	})
	t.Run("changed: one call, what others added stays", func(t *testing.T) {
		t.Parallel()
		cluster, m := applied(t)
		before := cluster.memory.Objects()
		got := diff(t, m, settings(t, "{a: '9'}"))
		assert.Equal(t, deploy.Configured, got.Action)
		assert.Equal(t, []string{`.data.a: "1" -> "9"`, `.data.b: "2" -> none`}, lines(got.Changes))
		assert.Equal(t, `--- ConfigMap shop/settings (live)
+++ ConfigMap shop/settings (applied)
@@ -1,7 +1,6 @@
 apiVersion: v1
 data:
-  a: "1"
-  b: "2"
+  a: "9"
   c: "3"
 kind: ConfigMap
 metadata:
`, got.Unified)
		calls := cluster.take()
		require.Len(t, calls, 1)
		assert.True(t, strings.HasSuffix(calls[0], "dry-run"))
		assert.Equal(t, before, cluster.memory.Objects(), "nothing was changed")
	})
	t.Run("new: whole, as additions", func(t *testing.T) {
		t.Parallel()
		cluster, m := applied(t)
		got := diff(t, m, named(settings(t, "{a: '1'}"), "other"))
		assert.Equal(t, deploy.Created, got.Action)
		assert.Equal(t, []string{`.apiVersion: none -> "v1"`, `.data: none -> {"a":"1"}`, `.kind: none -> "ConfigMap"`, `.metadata.name: none -> "other"`, `.metadata.namespace: none -> "shop"`}, lines(got.Changes))
		assert.Equal(t, `--- /dev/null
+++ ConfigMap shop/other (applied)
@@ -0,0 +1,7 @@
+apiVersion: v1
+data:
+  a: "1"
+kind: ConfigMap
+metadata:
+  name: other
+  namespace: shop
`, got.Unified)
		assert.Equal(t, []string{"apply ConfigMap shop/other dry-run"}, cluster.take())
	})
	t.Run("ownership only: an action without a change", func(t *testing.T) {
		t.Parallel()
		m := must(deploy.NewManager(newCluster(t, settings(t, "{a: '1'}"))))
		got := diff(t, m, settings(t, "{a: '1'}"))
		assert.Equal(t, deploy.Difference{Ref: settingsRef, Action: deploy.Configured}, got)
	})
	t.Run("somebody else's: the error, no change", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{a: '1'}"))
		got := diff(t, must(deploy.NewManager(cluster, deploy.OwnedBy(cart("c")))), settings(t, "{a: '2'}"))
		assert.Equal(t, deploy.Conflicted, got.Action)
		var owned *deploy.OwnedError
		require.ErrorAs(t, got.Err, &owned)
		assert.Empty(t, got.Changes)
		assert.Empty(t, cluster.take())
	})
	t.Run("status and what moves isn't shown", func(t *testing.T) {
		t.Parallel()
		live := web(t, "{replicas: 1}")
		live.Object["status"] = map[string]any{"replicas": int64(1)}
		got := diff(t, must(deploy.NewManager(newCluster(t, live))), web(t, "{replicas: 2}"), deploy.Conflicts(deploy.Force))
		assert.Equal(t, []string{".spec.replicas: 1 -> 2"}, lines(got.Changes))
		for _, word := range []string{"status", "uid", "resourceVersion", "creationTimestamp", "managedFields", "generation", "operkit.dev"} {
			assert.NotContains(t, got.Unified, word)
		}
	})
	t.Run("several: each for itself, in their order", func(t *testing.T) {
		t.Parallel()
		cluster, m := applied(t)
		bad := settings(t, "{}")
		bad.SetName("")
		differences, err := m.Diff(t.Context(), objects(named(settings(t, "{a: '1'}"), "z"), bad, settings(t, "{a: '1', b: '2'}")))
		var invalid *deploy.InvalidManifestError
		require.ErrorAs(t, err, &invalid)
		require.Len(t, differences, 3)
		assert.Equal(t, []deploy.Action{deploy.Created, deploy.Failed, deploy.Unchanged}, []deploy.Action{differences[0].Action, differences[1].Action, differences[2].Action})
		assert.True(t, differences.Changed())
		assert.False(t, differences[1:].Changed())
		assert.Equal(t, differences[0].Unified, differences.String())
		assert.Len(t, cluster.take(), 1)
	})
	t.Run("an invalid call", func(t *testing.T) {
		t.Parallel()
		cluster, m := applied(t)
		differences, err := m.Diff(t.Context(), objects(settings(t, "{}"), settings(t, "{}")))
		require.ErrorContains(t, err, "given twice")
		assert.Nil(t, differences)
		_, err = m.Diff(t.Context(), nil, deploy.FieldManager(""))
		require.Error(t, err)
		assert.Empty(t, cluster.take())
	})
	t.Run("ctx ended", func(t *testing.T) {
		t.Parallel()
		_, m := applied(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := m.Diff(ctx, objects(settings(t, "{a: '3'}")))
		require.ErrorIs(t, err, context.Canceled)
	})
}

func TestDiffOfWhatComesTogether(t *testing.T) {
	t.Parallel()
	definition := object(t, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: unknowns.shop.example.com}
spec: {group: shop.example.com, scope: Namespaced, names: {kind: Unknown, plural: unknowns}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}`)
	resource := object(t, "{apiVersion: shop.example.com/v1, kind: Unknown, metadata: {name: a, namespace: shop}, spec: {a: 1}}")
	t.Run("a kind that isn't served yet", func(t *testing.T) {
		t.Parallel()
		differences, err := must(deploy.NewManager(newCluster(t))).Diff(t.Context(), objects(resource, definition))
		require.NoError(t, err)
		assert.Equal(t, deploy.Created, differences[0].Action)
		assert.Contains(t, differences[0].Unified, "+  a: 1\n")
	})
	t.Run("a kind that nothing defines", func(t *testing.T) {
		t.Parallel()
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, diff(t, must(deploy.NewManager(newCluster(t))), resource).Err, &unknown)
	})
	t.Run("a namespace that isn't there yet", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		cluster.before = failing("apply ConfigMap", &deploy.NotFoundError{Ref: settingsRef, Err: errNo})
		namespace := object(t, "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")
		differences, err := must(deploy.NewManager(cluster)).Diff(t.Context(), objects(settings(t, "{a: '1'}"), namespace))
		require.NoError(t, err)
		assert.Equal(t, deploy.Created, differences[0].Action)
		assert.Contains(t, differences[0].Unified, "+  a: \"1\"\n")
		assert.Len(t, cluster.take(), 2)
	})
}

func TestDiffMetadataOnly(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	apply(t, m, settings(t, "{a: '1'}"))
	cluster.take()
	m = must(deploy.NewManager(metadataOnly{cluster}))
	got := diff(t, m, settings(t, "{a: '2'}"))
	assert.Equal(t, []string{`.data.a: "1" -> "2"`}, lines(got.Changes))
	assert.Equal(t, "get "+settingsName, cluster.take()[1], "the content is read where the View has none")

	cluster.before = func(call string) error {
		if call == "get "+settingsName {
			return cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{})
		}
		return nil
	}
	differences, err := m.Diff(t.Context(), objects(settings(t, "{a: '2'}")))
	var gone *deploy.NotFoundError
	require.ErrorAs(t, err, &gone, "it is deleted meanwhile")
	assert.Equal(t, settingsRef, gone.Ref)
	assert.ErrorIs(t, differences[0].Err, gone)
}

func TestDiffUnseen(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster)), settings(t, "{a: '1'}"))
	cluster.blind = true
	got := diff(t, must(deploy.NewManager(cluster)), settings(t, "{a: '2'}"))
	assert.Equal(t, []string{`.data.a: "1" -> "2"`}, lines(got.Changes), "an object that the View doesn't show yet is no new one")
}

// metadataOnly is a cluster whose View has no content.
type metadataOnly struct{ deploy.Cluster }

func (c metadataOnly) View() deploy.View { return metadataView{c.Cluster.View()} }

type metadataView struct{ deploy.View }

func (v metadataView) Get(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	obj, err := v.View.Get(ctx, ref)
	if obj != nil {
		obj = &unstructured.Unstructured{Object: maps.Clone(obj.Object)}
		delete(obj.Object, "data")
	}
	return obj, err
}

func TestDiffSecrets(t *testing.T) {
	t.Parallel()
	password := func(fields string) *unstructured.Unstructured {
		return object(t, "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\n"+fields)
	}
	const hidden, other = "c2VjcmV0LW9uZQ==", "c2VjcmV0LXR3bw==" // secret-one, secret-two
	live := password("data: {password: " + hidden + ", same: " + hidden + "}")
	manifest, err := json.Marshal(password("stringData: {password: secret-one}").Object)
	require.NoError(t, err)
	live.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": string(manifest)})
	broken := live.DeepCopy()
	broken.SetAnnotations(map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "secret-one {"})
	for name, test := range map[string]struct {
		live, wanted *unstructured.Unstructured
		path         string
	}{
		"data":                            {live, password("data: {password: " + other + "}"), ".data.password"},
		"stringData is what data becomes": {live, password("stringData: {password: secret-two}"), ".data.password"},
		"a broken annotation":             {broken, password("data: {password: " + other + "}"), ".data.password"},
		"new":                             {nil, live, ".apiVersion"},
		"no base64":                       {live, password("data: {password: secret-two}"), ".data.password"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			if test.live != nil {
				cluster = newCluster(t, test.live)
			}
			got := diff(t, must(deploy.NewManager(cluster)), test.wanted, deploy.Conflicts(deploy.Force))
			require.NotEmpty(t, got.Changes)
			assert.Equal(t, test.path, got.Changes[0].Path)
			assert.Contains(t, got.Unified, "sha256:")
			everything := got.Unified + strings.Join(lines(got.Changes), "\n")
			for _, value := range []string{hidden, other, "secret-one", "secret-two"} {
				assert.NotContains(t, everything, value)
			}
		})
	}
	t.Run("equal values have equal digests, of their content and with their length", func(t *testing.T) {
		t.Parallel()
		got := diff(t, must(deploy.NewManager(newCluster(t, live))), password("data: {password: "+other+"}"), deploy.Conflicts(deploy.Force))
		require.Len(t, got.Changes, 1)
		assert.Regexp(t, `^sha256:[0-9a-f]{12} \(10 bytes\)$`, got.Changes[0].Before)
		assert.NotEqual(t, got.Changes[0].Before, got.Changes[0].After)
		assert.Contains(t, got.Unified, "same: "+got.Changes[0].Before.(string))
	})
	t.Run("elsewhere nothing is hidden", func(t *testing.T) {
		t.Parallel()
		got := diff(t, must(deploy.NewManager(newCluster(t))), settings(t, "{a: "+hidden+"}"))
		assert.Contains(t, got.Unified, hidden)
	})
}
