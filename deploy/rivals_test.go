package deploy_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fightsAs requires that a result is the conflict with another process of the same name.
// Replicas of one release that take turns write over each other's intents, each time since these have changed.
func TestReplicasThatTakeTurns(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	replicas := []*deploy.Manager{must(deploy.NewManager(cluster)), must(deploy.NewManager(cluster))}
	for i := range 40 {
		intent := settings(t, fmt.Sprintf("{a: '%d'}", i))
		result := apply(t, replicas[i%2], intent)
		require.NoError(t, result.Err)
		assert.True(t, result.Changed())
		assert.Equal(t, deploy.Unchanged, apply(t, replicas[(i+1)%2], intent).Action)
	}
}

func fightsAs(t *testing.T, result deploy.Result, manager string) *deploy.ConflictError {
	t.Helper()
	var conflict *deploy.ConflictError
	require.ErrorAs(t, result.Err, &conflict)
	require.Equal(t, deploy.Conflicted, result.Action)
	require.True(t, conflict.Fought)
	require.True(t, conflict.SameManager)
	require.Positive(t, conflict.RetryAfter)
	require.ErrorContains(t, conflict, fmt.Sprintf("%s: another process applies this object as the same field manager %q", conflict.Ref, manager))
	require.ErrorContains(t, conflict, "is the operator installed twice?")
	return conflict
}

// Two processes that give an object different content under one name write a few times, and rarely after that.
func TestRivals(t *testing.T) {
	t.Parallel()
	immutable := func(t *testing.T, of string) *unstructured.Unstructured {
		obj := settings(t, "{of: '"+of+"'}")
		obj.Object["immutable"] = true
		return obj
	}
	mutable := func(t *testing.T, of string) *unstructured.Unstructured { return settings(t, "{of: '"+of+"'}") }
	for reason, row := range map[string]struct {
		manifest func(t *testing.T, of string) *unstructured.Unstructured
		options  []deploy.Option
		// calls are those of one write, with what it asks before.
		calls int
	}{
		"by apply":                        {manifest: mutable},
		"by apply, for one owner":         {manifest: mutable, options: []deploy.Option{deploy.OwnedBy(cart("a"))}},
		"by replacement":                  {manifest: mutable, options: []deploy.Option{deploy.DefaultStrategy(deploy.Replace)}},
		"what can't change is made anew":  {manifest: immutable, options: []deploy.Option{deploy.DefaultStrategy(deploy.Recreate)}, calls: 5},
		"whatever the conflict policy is": {manifest: mutable, options: []deploy.Option{deploy.Conflicts(deploy.Fail)}},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				options := append(row.options, deploy.FieldManager("box"))
				a, b := must(deploy.NewManager(cluster, options...)), must(deploy.NewManager(cluster, options...))
				ofA, ofB := row.manifest(t, "a"), row.manifest(t, "b")
				round := func() (deploy.Result, deploy.Result) { return apply(t, a, ofA), apply(t, b, ofB) }
				for range 100 {
					round()
					time.Sleep(time.Millisecond)
				}
				writes := len(cluster.take())
				assert.LessOrEqual(t, writes, 10*max(row.calls, 1), "of a hundred rounds")
				resultA, resultB := round()
				_ = fightsAs(t, resultA, "box")
				_ = fightsAs(t, resultB, "box")
				for range 5 * 60 {
					time.Sleep(time.Second)
					resultA, resultB = round()
					_ = fightsAs(t, resultA, "box")
					_ = fightsAs(t, resultB, "box")
				}
				calls := cluster.take()
				assert.LessOrEqual(t, len(calls), 5*2*max(row.calls, 1), "in five minutes: %v", calls)
				assert.NotEmpty(t, calls, "each tries again now and then")

				// b goes away.
				start := time.Now()
				result := apply(t, a, ofA)
				for result.Err != nil && time.Since(start) < 5*time.Minute {
					time.Sleep(fightsAs(t, result, "box").RetryAfter)
					result = apply(t, a, ofA)
				}
				require.NoError(t, result.Err)
				require.Equal(t, deploy.Unchanged, result.Action)
				assert.Equal(t, "a", cluster.get(t, settingsRef).Object["data"].(map[string]any)["of"])
				assert.LessOrEqual(t, time.Since(start), 4*time.Minute)
				cluster.take()
				require.Equal(t, deploy.Unchanged, apply(t, a, ofA).Action)
				assert.Empty(t, cluster.take(), "an unchanged object costs no call")
			})
		})
	}
}

// What looks alike and is no fight: all is written at once.
func TestNoRivals(t *testing.T) {
	t.Parallel()
	data := func(t *testing.T, of any) *unstructured.Unstructured {
		return settings(t, fmt.Sprintf("{of: '%v'}", of))
	}
	for reason, story := range map[string]func(t *testing.T, cluster *recording, a, b *deploy.Manager){
		"the content goes to and fro": func(t *testing.T, _ *recording, a, _ *deploy.Manager) {
			for i := range 20 {
				require.NoError(t, apply(t, a, data(t, i%2)).Err)
			}
		},
		"drift is mended": func(t *testing.T, cluster *recording, a, _ *deploy.Manager) {
			for i := range 20 {
				require.NoError(t, apply(t, a, data(t, 1)).Err)
				cluster.edit(t, settingsRef, fmt.Sprintf(`{"metadata":{"annotations":{"operkit.dev/applied-operkit":null,"n":"%d"}}}`, i))
			}
		},
		"two versions overlap for a moment": func(t *testing.T, _ *recording, a, b *deploy.Manager) {
			for range 2 {
				require.NoError(t, apply(t, a, data(t, "old")).Err)
				require.NoError(t, apply(t, b, data(t, "new")).Err)
			}
			require.Equal(t, deploy.Unchanged, apply(t, b, data(t, "new")).Action)
			require.Equal(t, deploy.Configured, apply(t, b, data(t, "newer")).Action)
		},
		"both say the same": func(t *testing.T, _ *recording, a, b *deploy.Manager) {
			for i := range 20 {
				require.NoError(t, apply(t, a, data(t, i)).Err)
				require.NoError(t, apply(t, b, data(t, i)).Err)
			}
		},
		"rarely": func(t *testing.T, _ *recording, a, b *deploy.Manager) {
			for range 20 {
				require.NoError(t, apply(t, a, data(t, "a")).Err)
				require.NoError(t, apply(t, b, data(t, "b")).Err)
				time.Sleep(6 * time.Minute)
			}
		},
		"two names are another kind of conflict": func(t *testing.T, cluster *recording, a, _ *deploy.Manager) {
			c := must(deploy.NewManager(cluster, deploy.FieldManager("other"), deploy.Conflicts(deploy.Force)))
			for range 5 {
				apply(t, a, data(t, "a"))
				apply(t, c, data(t, "c"))
			}
			var conflict *deploy.ConflictError
			require.ErrorAs(t, apply(t, c, data(t, "c")).Err, &conflict)
			require.True(t, conflict.Fought)
			require.False(t, conflict.SameManager)
		},
		"dry runs count nothing": func(t *testing.T, _ *recording, a, b *deploy.Manager) {
			require.NoError(t, apply(t, a, data(t, "a")).Err)
			require.NoError(t, apply(t, a, data(t, "a2")).Err)
			require.NoError(t, apply(t, b, data(t, "b")).Err)
			for range 10 {
				require.NoError(t, apply(t, a, data(t, "a"), deploy.DryRun()).Err)
				_, err := a.Diff(t.Context(), objects(data(t, "a")))
				require.NoError(t, err)
			}
			require.Equal(t, deploy.Configured, apply(t, a, data(t, "a")).Action)
		},
		"made anew for another owner": func(t *testing.T, cluster *recording, a, _ *deploy.Manager) {
			for i := range 10 {
				owner := cart(fmt.Sprint("a", i))
				require.NoError(t, apply(t, a, data(t, i), deploy.OwnedBy(owner)).Err)
				require.NoError(t, cluster.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
			}
		},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				cluster := newCluster(t)
				story(t, cluster, must(deploy.NewManager(cluster)), must(deploy.NewManager(cluster)))
			})
		})
	}
}
