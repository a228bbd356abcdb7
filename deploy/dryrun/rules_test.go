package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/fields"
)

// The rules of the in-memory cluster that no other test has in its name.
func TestRulesOfTheInMemoryCluster(t *testing.T) {
	t.Parallel()
	t.Run("deploy 30: a deploy is the whole intent, and the server's own fields are set", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		first := apply(t, cluster, "operkit", cart(t, "{a: 1, b: {c: 1}}"))
		assert.NotEmpty(t, first.GetUID())
		assert.False(t, first.GetCreationTimestamp().Time.IsZero())
		assert.NotEmpty(t, first.GetResourceVersion())
		second := apply(t, cluster, "operkit", cart(t, "{b: {d: 2}}"))
		assert.Equal(t, map[string]any{"b": map[string]any{"d": int64(2)}}, second.Object["spec"])
		stale := cart(t, "{a: 3}")
		stale.SetResourceVersion(first.GetResourceVersion())
		_, err := cluster.Port().Apply(t.Context(), stale, deploy.ApplyOptions{FieldManager: "operkit"})
		var conflict *deploy.StaleError
		require.ErrorAs(t, err, &conflict, "a version of the manifest that isn't the stored one")
	})
	t.Run("deploy 31: who watches hears of a deploy, not of a seed, and of what goes for want of finalizers", func(t *testing.T) {
		t.Parallel()
		held := settings(t, "{}")
		held.SetFinalizers([]string{"shop/hold"})
		cluster := newCluster(t, dryrun.Objects(held))
		events, err := watch(t, cluster, dryrun.WatchOptions{ResourceVersion: "1"})
		require.NoError(t, err)
		apply(t, cluster, "operkit", settings(t, "{a: '1'}"))
		require.NoError(t, cluster.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		merge(t, cluster, settingsRef, "operkit", `{"metadata":{"finalizers":null}}`)
		assert.Equal(t, []string{"MODIFIED settings 2", "MODIFIED settings 3", "DELETED settings 4"}, events.wait(t, 3))
	})
	t.Run("deploy 33: for a kind, for a namespace, for a name", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		name := fields.OneTermEqualSelector("metadata.name", "settings")
		var heard []*recorder
		for _, options := range []dryrun.WatchOptions{{}, {Namespace: "shop"}, {Namespace: "shop", Fields: name}} {
			events, err := watch(t, cluster, options)
			require.NoError(t, err)
			heard = append(heard, events)
		}
		apply(t, cluster, "operkit", settings(t, "{}"))
		other := settings(t, "{}")
		other.SetName("other")
		apply(t, cluster, "operkit", other)
		other.SetNamespace("bank")
		apply(t, cluster, "operkit", other)
		apply(t, cluster, "operkit", cart(t, "{}"))
		require.NoError(t, cluster.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		for i, want := range []int{3, 2, 1} {
			assert.Equal(t, "DELETED settings 5", heard[i].wait(t, want+1)[want], "all hear of the last one")
		}
	})
	t.Run("deploy 34: without an apiVersion it is the kind of that name, if there is one", func(t *testing.T) {
		t.Parallel()
		other := cart(t, "{}")
		other.SetAPIVersion("bank.example.com/v1")
		cluster := newCluster(t, dryrun.Objects(cart(t, "{}"), settings(t, "{}")))
		kinds, err := requests(cluster).Kinds(t.Context(), "Cart")
		require.NoError(t, err)
		require.Len(t, kinds, 1)
		found, err := requests(cluster).Get(t.Context(), deploy.Ref{Kind: kinds[0], Namespace: "shop", Name: "c"})
		require.NoError(t, err)
		found.Object["spec"] = "mine"
		assert.NotEqual(t, found, get(t, cluster, cartRef), "results are copies")
		apply(t, cluster, "operkit", other)
		kinds, err = requests(cluster).Kinds(t.Context(), "Cart")
		require.NoError(t, err)
		assert.Len(t, kinds, 2, "then nobody can tell which one is meant")
	})
	t.Run("deploy 37: there is no status of what isn't there", func(t *testing.T) {
		t.Parallel()
		_, err := newCluster(t).Port().Patch(t.Context(), cartRef, statusPatch(`{"status":{"a":1}}`))
		var absent *deploy.NotFoundError
		require.ErrorAs(t, err, &absent)
	})
	t.Run("deploy 29: cluster-scoped objects are in the null namespace", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, dryrun.Objects(object(t, "{apiVersion: v1, kind: Node, metadata: {name: a}}"), settings(t, "{}")))
		assert.NotNil(t, get(t, cluster, deploy.Ref{Kind: namespace.GroupVersion().WithKind("Node"), Name: "a"}))
		assert.Nil(t, get(t, cluster, deploy.Ref{Kind: configMap, Name: "settings"}))
	})
}
