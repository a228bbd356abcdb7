package deploy_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// What a client that sent whole objects left behind becomes ours, and goes when the intent hasn't got it.
func TestTakeOverFrom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []deploy.Option
		action  deploy.Action
		calls   []string
		data    map[string]any
	}{
		"named, it is taken over": {[]deploy.Option{deploy.TakeOverFrom("kubectl", "kubectl-create")}, deploy.Configured,
			[]string{"get", "patch", "apply " + settingsName}, map[string]any{"a": "2"}},
		"others aren't": {[]deploy.Option{deploy.TakeOverFrom("kubectl-create")}, deploy.Conflicted,
			nil, map[string]any{"a": "1", "b": "1"}},
		"a dry run says what would be, but for what goes": {[]deploy.Option{deploy.TakeOverFrom("kubectl"), deploy.DryRun()}, deploy.Configured,
			[]string{"apply " + settingsName + " force dry-run"}, map[string]any{"a": "1", "b": "1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			apply(t, must(deploy.NewManager(cluster, deploy.FieldManager("seed"))), settings(t, "{a: '0'}"))
			cluster.edit(t, settingsRef, `{"data":{"a":"1","b":"1"}}`)
			cluster.take()
			m := must(deploy.NewManager(cluster, test.options...))
			result := apply(t, m, settings(t, "{a: '2'}"))
			assert.Equal(t, test.action, result.Action, result.Err)
			calls := cluster.take()
			require.Len(t, calls, len(test.calls))
			for i, call := range test.calls {
				assert.Contains(t, calls[i], call)
			}
			assert.Equal(t, test.data, cluster.get(t, settingsRef).Object["data"])
			if test.action == deploy.Configured && len(calls) == 3 {
				assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '2'}")).Action)
				assert.Empty(t, cluster.take(), "once is enough")
			}
		})
	}
}

// What the View shows is older than what is there.
func TestTakeOverReadsWhatIsThere(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster, deploy.FieldManager("seed"))), settings(t, "{a: '0'}"))
	cluster.edit(t, settingsRef, `{"data":{"a":"1"}}`)
	cluster.stale = cluster.get(t, settingsRef)
	cluster.edit(t, settingsRef, `{"data":{"b":"1"}}`)
	cluster.take()
	m := must(deploy.NewManager(&staleCluster{recording: cluster}, deploy.TakeOverFrom("kubectl")))
	result := apply(t, m, settings(t, "{a: '2'}"))
	require.NoError(t, result.Err)
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, map[string]any{"a": "2"}, cluster.get(t, settingsRef).Object["data"])
	assert.Len(t, cluster.take(), 3, "a read of what is there now, a patch of that, an apply")
}

// replaceBy has a manager write the whole of settings by a PUT.
func replaceBy(t *testing.T, cluster *recording, manager, data string) {
	t.Helper()
	next := settings(t, data)
	live := cluster.get(t, settingsRef)
	next.SetResourceVersion(live.GetResourceVersion())
	next.SetAnnotations(live.GetAnnotations())
	_, err := cluster.memory.Port().Update(t.Context(), next, deploy.UpdateOptions{FieldManager: manager})
	require.NoError(t, err)
}

// What our own name wrote by PUT is taken over without being named, also beside an intent that was applied last.
func TestTakeOverOwn(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster))
	apply(t, m, settings(t, "{a: '1'}"))
	replaceBy(t, cluster, "operkit", "{a: '1', b: '1'}")
	cluster.take()
	assert.Equal(t, deploy.Configured, apply(t, m, settings(t, "{a: '1'}")).Action)
	assert.Len(t, cluster.take(), 3)
	assert.Equal(t, map[string]any{"a": "1"}, cluster.get(t, settingsRef).Object["data"])
	assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
	assert.Empty(t, cluster.take())
}

// A process that ends, or an apply that is refused, after the fields became ours leaves none of them behind.
func TestTakeOverInterrupted(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	apply(t, must(deploy.NewManager(cluster)), settings(t, "{a: '1'}"))
	replaceBy(t, cluster, "operkit", "{a: '1', b: '1'}")
	broken := applyFails{cluster}
	assert.ErrorIs(t, apply(t, must(deploy.NewManager(broken)), settings(t, "{a: '1'}")).Err, errNo)
	assert.Equal(t, map[string]any{"a": "1", "b": "1"}, cluster.get(t, settingsRef).Object["data"])
	restarted := must(deploy.NewManager(cluster))
	assert.Equal(t, deploy.Configured, apply(t, restarted, settings(t, "{a: '1'}")).Action)
	assert.Equal(t, map[string]any{"a": "1"}, cluster.get(t, settingsRef).Object["data"])
}

// applyFails is a cluster that refuses each apply.
type applyFails struct{ *recording }

func (c applyFails) Port() deploy.Port { return refusingPort{c.recording.Port()} }

type refusingPort struct{ deploy.Port }

func (refusingPort) Apply(context.Context, *unstructured.Unstructured, deploy.ApplyOptions) (deploy.Applied, error) {
	return deploy.Applied{}, errNo
}

// Ways of writing that own fields by an Update are unchanged all the same, and what this module's patches wrote isn't
// taken away.
func TestTakeOverLeavesOurOwnPatches(t *testing.T) {
	t.Parallel()
	for _, strategy := range []deploy.Strategy{deploy.CreateOnly, deploy.Replace, deploy.OnDelete} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(strategy)))
			apply(t, m, settings(t, "{a: '1'}"))
			if strategy == deploy.OnDelete {
				replaceBy(t, cluster, "operkit", "{a: '1', b: '1'}")
			}
			cluster.take()
			for range 3 {
				assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
			}
			assert.Empty(t, cluster.take())
		})
	}
	t.Run("a finalizer", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, settings(t, "{a: '1'}"))
		require.NoError(t, m.AddFinalizer(t.Context(), cluster.get(t, settingsRef), "example.com/held"))
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
		assert.Empty(t, cluster.take())
		replaceBy(t, cluster, "other", "{a: '1', b: '1'}")
		require.NoError(t, m.AddFinalizer(t.Context(), cluster.get(t, settingsRef), "example.com/held"))
		taking := must(m.With(deploy.TakeOverFrom("other")))
		assert.Equal(t, deploy.Configured, apply(t, taking, settings(t, "{a: '2'}")).Action)
		assert.Equal(t, []string{"example.com/held"}, cluster.get(t, settingsRef).GetFinalizers())
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, taking, settings(t, "{a: '2'}")).Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("the record of temporary patches", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, settings(t, "{a: '1'}"))
		_, err := m.Port().Patch(t.Context(), settingsRef, deploy.PatchRequest{Type: types.MergePatchType, FieldManager: "operkit",
			Body: []byte(`{"metadata":{"annotations":{"operkit.dev/temporary-patches":"{}"}}}`)})
		require.NoError(t, err)
		cluster.take()
		assert.Equal(t, deploy.Unchanged, apply(t, m, settings(t, "{a: '1'}")).Action)
		assert.Empty(t, cluster.take())
		assert.Equal(t, deploy.Configured, apply(t, m, settings(t, "{a: '2'}")).Action)
		assert.Contains(t, cluster.get(t, settingsRef).GetAnnotations(), "operkit.dev/temporary-patches")
	})
}
