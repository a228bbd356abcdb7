package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDiffDelete(t *testing.T) {
	t.Parallel()
	ours := owned(settings(t, "{a: '1'}"), reference("c"))
	t.Run("a deletion is shown whole, and nothing is deleted", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, ours)
		before := cluster.memory.Objects()
		differences, err := must(deploy.NewManager(cluster, deploy.EvenForeign())).DiffDelete(t.Context(), objects(ours), deploy.UntilGone())
		require.NoError(t, err)
		assert.Equal(t, deploy.Removed, differences[0].Action)
		assert.True(t, differences.Changed())
		assert.Contains(t, differences.String(), "--- ConfigMap shop/settings (live)\n+++ /dev/null\n")
		assert.Contains(t, differences.String(), "\n-  a: \"1\"\n")
		assert.Equal(t, before, cluster.memory.Objects())
		assert.Len(t, cluster.take(), 1, "a dry run of it")
	})
	t.Run("its content is gone when it is read", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, ours)
		cluster.before = func(call string) error {
			if call == "get "+settingsName {
				return cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{})
			}
			return nil
		}
		differences, err := must(deploy.NewManager(metadataOnly{cluster}, deploy.EvenForeign())).DiffDelete(t.Context(), objects(ours))
		var gone *deploy.NotFoundError
		require.ErrorAs(t, err, &gone)
		assert.Empty(t, differences[0].Unified)
	})
	t.Run("nothing is there", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		differences, err := must(deploy.NewManager(cluster)).DiffDelete(t.Context(), objects(ours))
		require.NoError(t, err)
		assert.Equal(t, deploy.Differences{{Ref: settingsRef, Action: deploy.Skipped}}, differences)
		assert.False(t, differences.Changed())
		assert.Empty(t, cluster.take())
	})
	t.Run("somebody else's is left alone", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, ours)
		differences, err := must(deploy.NewManager(cluster)).DiffDelete(t.Context(), objects(ours))
		var foreign *deploy.OwnedError
		require.ErrorAs(t, err, &foreign)
		assert.Equal(t, deploy.Conflicted, differences[0].Action)
		assert.Empty(t, differences.String())
		assert.Empty(t, cluster.take())
	})
	t.Run("bad options", func(t *testing.T) {
		t.Parallel()
		differences, err := must(deploy.NewManager(newCluster(t))).DiffDelete(t.Context(), objects(ours), deploy.FieldManager(""))
		require.ErrorContains(t, err, "field manager: its name is empty")
		assert.Nil(t, differences)
	})
}
