package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAddFinalizer(t *testing.T) {
	t.Parallel()
	t.Run("it is added, and nothing else is written", func(t *testing.T) {
		t.Parallel()
		seed := settings(t, "{a: '1'}")
		seed.SetFinalizers([]string{"shop/theirs"})
		cluster := newCluster(t, seed)
		m := must(deploy.NewManager(cluster))
		before := cluster.get(t, settingsRef)
		kept := before.DeepCopy()
		require.NoError(t, m.AddFinalizer(t.Context(), before, "shop/ours"))
		assert.Equal(t, []string{`patch ConfigMap shop/settings {"metadata":{"finalizers":["shop/theirs","shop/ours"],"resourceVersion":"1","uid":"` +
			string(before.GetUID()) + `"}}`}, cluster.take())
		assert.Equal(t, kept, before, "deploy W11: inputs aren't changed")
		after := cluster.get(t, settingsRef)
		assert.Equal(t, []string{"shop/theirs", "shop/ours"}, after.GetFinalizers())
		require.NoError(t, m.AddFinalizer(t.Context(), after, "shop/ours"))
		assert.Empty(t, cluster.take(), "one that is there costs no call")
	})
	t.Run("an object that changed meanwhile", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{a: '1'}"))
		before := cluster.get(t, settingsRef)
		cluster.edit(t, settingsRef, `{"metadata":{"finalizers":["shop/theirs"]}}`)
		err := must(deploy.NewManager(cluster)).AddFinalizer(t.Context(), before, "shop/ours")
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
		assert.Equal(t, []string{"shop/theirs"}, cluster.get(t, settingsRef).GetFinalizers(), "deploy W4: nobody's finalizer is lost")
	})
	t.Run("an object that is being deleted takes none", func(t *testing.T) {
		t.Parallel()
		seed := settings(t, "{a: '1'}")
		seed.SetFinalizers([]string{"shop/theirs"})
		cluster := newCluster(t, seed)
		require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		err := must(deploy.NewManager(cluster)).AddFinalizer(t.Context(), cluster.get(t, settingsRef), "shop/ours")
		var terminating *deploy.TerminatingError
		require.ErrorAs(t, err, &terminating)
		assert.Empty(t, cluster.take())
	})
}

func TestRemoveFinalizer(t *testing.T) {
	t.Parallel()
	seed := settings(t, "{a: '1'}")
	seed.SetFinalizers([]string{"shop/ours", "shop/theirs"})

	t.Run("it goes alone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, seed)
		m := must(deploy.NewManager(cluster))
		before := cluster.get(t, settingsRef)
		kept := before.DeepCopy()
		require.NoError(t, m.RemoveFinalizer(t.Context(), before, "shop/ours"))
		assert.Equal(t, kept, before, "deploy W11: inputs aren't changed")
		assert.Len(t, cluster.take(), 1)
		after := cluster.get(t, settingsRef)
		assert.Equal(t, []string{"shop/theirs"}, after.GetFinalizers())
		require.NoError(t, m.RemoveFinalizer(t.Context(), after, "shop/ours"))
		assert.Empty(t, cluster.take(), "one that isn't there costs no call")
	})
	t.Run("deploy W20: the last one ends an object that is being deleted", func(t *testing.T) {
		t.Parallel()
		alone := settings(t, "{}")
		alone.SetFinalizers([]string{"shop/ours"})
		cluster := newCluster(t, alone)
		require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		obj := cluster.get(t, settingsRef)
		require.NoError(t, must(deploy.NewManager(cluster)).RemoveFinalizer(t.Context(), obj, "shop/ours"))
		assert.Nil(t, cluster.get(t, settingsRef))
		require.NoError(t, must(deploy.NewManager(cluster)).RemoveFinalizer(t.Context(), obj, "shop/ours"), "an object that is gone has nothing to remove")
	})
	t.Run("an object that changed meanwhile", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, seed)
		before := cluster.get(t, settingsRef)
		cluster.edit(t, settingsRef, `{"data":{"a":"2"}}`)
		err := must(deploy.NewManager(cluster)).RemoveFinalizer(t.Context(), before, "shop/ours")
		var stale *deploy.StaleError
		require.ErrorAs(t, err, &stale)
	})
}
