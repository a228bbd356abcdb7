package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			apply(t, deploy.NewManager(cluster, deploy.FieldManager("seed")), settings(t, "{a: '0'}"))
			cluster.edit(t, settingsRef, `{"data":{"a":"1","b":"1"}}`)
			cluster.take()
			m := deploy.NewManager(cluster, test.options...)
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
	apply(t, deploy.NewManager(cluster, deploy.FieldManager("seed")), settings(t, "{a: '0'}"))
	cluster.edit(t, settingsRef, `{"data":{"a":"1"}}`)
	cluster.stale = cluster.get(t, settingsRef)
	cluster.edit(t, settingsRef, `{"data":{"b":"1"}}`)
	cluster.take()
	m := deploy.NewManager(&staleCluster{recording: cluster}, deploy.TakeOverFrom("kubectl"))
	result := apply(t, m, settings(t, "{a: '2'}"))
	require.NoError(t, result.Err)
	assert.Equal(t, deploy.Configured, result.Action)
	assert.Equal(t, map[string]any{"a": "2"}, cluster.get(t, settingsRef).Object["data"])
	assert.Len(t, cluster.take(), 3, "a read of what is there now, a patch of that, an apply")
}
