package deploy_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUnchanged(t *testing.T) {
	t.Parallel()
	ours := deploy.OwnedBy(cart("ours"))
	for name, test := range map[string]struct {
		// before happens after the first apply, which is sent with the options of first.
		first   []deploy.Option
		before  func(t *testing.T, cluster *recording)
		obj     string
		options []deploy.Option
		want    bool
	}{
		"unchanged 1: the same manifest": {obj: "{a: '1'}", want: true},
		"another value":                  {obj: "{a: '2'}"},
		"unchanged 1: drift": {obj: "{a: '1'}", before: func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`)
		}},
		"a field of others": {obj: "{a: '1'}", want: true, before: func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"data":{"b":"theirs"}}`)
		}},
		"a field that is left to others": {obj: "{a: '1'}", want: true, options: []deploy.Option{deploy.Conflicts(deploy.Keep)},
			before: func(t *testing.T, cluster *recording) { cluster.edit(t, settingsRef, `{"data":{"a":"theirs"}}`) }},
		"another field manager":    {obj: "{a: '1'}", options: []deploy.Option{deploy.FieldManager("other")}},
		"an object of others":      {obj: "{a: '1'}", first: []deploy.Option{ours}, options: []deploy.Option{deploy.OwnedBy(cart("other"))}},
		"another owner is adopted": {obj: "{a: '1'}", options: []deploy.Option{ours, deploy.Adopt(deploy.AdoptUnowned)}},
		"it is being deleted": {obj: "{a: '1'}", before: func(t *testing.T, cluster *recording) {
			cluster.edit(t, settingsRef, `{"metadata":{"finalizers":["example.com/held"]}}`)
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		}},
		"it is gone": {obj: "{a: '1'}", before: func(t *testing.T, cluster *recording) {
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
		}},
		"its strategy leaves it alone":                                   {obj: "{a: '2'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.OnDelete)}, want: true},
		"its strategy ignores it":                                        {obj: "{a: '2'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.Ignore)}, want: true},
		"it would be replaced":                                           {obj: "{a: '2'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.Replace)}},
		"it is as a replacement would be":                                {obj: "{a: '1'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.Replace)}, want: true},
		"unchanged 1: it would be recreated, and isn't examined further": {obj: "{a: '2'}", options: []deploy.Option{deploy.DefaultStrategy(deploy.RecreateOnChange)}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			m := must(deploy.NewManager(cluster))
			apply(t, m, settings(t, "{a: '1'}"), test.first...)
			if test.before != nil {
				test.before(t, cluster)
			}
			cluster.take()
			for range 2 {
				unchanged, err := m.Unchanged(t.Context(), settings(t, test.obj), test.options...)
				require.NoError(t, err)
				assert.Equal(t, test.want, unchanged)
			}
			calls := verbs(cluster.take())
			assert.NotContains(t, calls, "apply", "unchanged 1: nothing is written")
			assert.NotContains(t, calls, "list", "unchanged 1: what is lost by a recreation is another question")
			results, err := m.Apply(t.Context(), objects(settings(t, test.obj)), test.options...)
			left := err == nil && (results[0].Action == deploy.Unchanged || results[0].Action == deploy.Skipped)
			assert.Equal(t, test.want, left, "Apply agrees: %s %v", results[0].Action, err)
		})
	}
}

func TestUnchangedOfNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	m := must(deploy.NewManager(cluster, deploy.RetryFor(0)))
	unchanged, err := m.Unchanged(t.Context(), settings(t, "{}"))
	require.NoError(t, err)
	assert.False(t, unchanged, "an absent object")
	_, err = m.Unchanged(t.Context(), nil)
	var invalid *deploy.InvalidManifestError
	require.ErrorAs(t, err, &invalid)
	_, err = m.Unchanged(t.Context(), settings(t, "{}"), deploy.DefaultStrategy("Guess"))
	require.ErrorContains(t, err, "Guess")
	unread := unreadableCluster{cluster, errNo}
	_, err = must(deploy.NewManager(unread, deploy.RetryFor(0))).Unchanged(t.Context(), settings(t, "{}"))
	require.ErrorIs(t, err, errNo, "what can't be read isn't guessed")
	assert.Empty(t, cluster.take())
}

func TestUnchangedRemembers(t *testing.T) {
	t.Parallel()
	t.Run("unchanged 2: what was found unchanged is known, also after a restart", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		l := &library{content: settings(t, "{a: x}")}
		require.NoError(t, apply(t, must(deploy.NewManager(cluster, l.option())), standIn(t, "one")).Err)
		restarted := must(deploy.NewManager(cluster, l.option()))
		for range 2 {
			unchanged, err := restarted.Unchanged(t.Context(), standIn(t, "one"))
			require.NoError(t, err)
			assert.True(t, unchanged)
			assert.EqualValues(t, 2, l.asked.Load(), "its content is compared once")
		}
		assert.Equal(t, deploy.Unchanged, apply(t, restarted, standIn(t, "one")).Action)
		assert.EqualValues(t, 2, l.asked.Load(), "an apply knows it, too")
	})
}
