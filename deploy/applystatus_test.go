package deploy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func TestApplyStatus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		// first is applied first by this manager, and others by another one.
		first, others map[string]any
		want          map[string]any
		action        deploy.Action
		calls         int
	}{
		"deploy 22: no difference is no call":  {map[string]any{"a": "1"}, nil, map[string]any{"a": "1"}, deploy.Unchanged, 0},
		"integers of any type":                 {map[string]any{"a": 1}, nil, map[string]any{"a": int64(1)}, deploy.Unchanged, 0},
		"null is absent":                       {map[string]any{"a": "1"}, nil, map[string]any{"a": "1", "b": nil}, deploy.Unchanged, 0},
		"zero values":                          {map[string]any{"a": 0, "b": "", "c": false}, nil, map[string]any{"a": 0, "b": "", "c": false}, deploy.Unchanged, 0},
		"applied 1: fields of others stay":     {map[string]any{"a": "1"}, map[string]any{"b": "2"}, map[string]any{"a": "1"}, deploy.Unchanged, 0},
		"a value that others set, too":         {map[string]any{"a": "1"}, map[string]any{"a": "1"}, map[string]any{"a": "1"}, deploy.Unchanged, 0},
		"only a value that others set":         {nil, map[string]any{"a": "1"}, map[string]any{"a": "1"}, deploy.Configured, 1},
		"another value":                        {map[string]any{"a": "1"}, nil, map[string]any{"a": "2"}, deploy.Configured, 1},
		"a field more":                         {map[string]any{"a": "1"}, nil, map[string]any{"a": "1", "b": "2"}, deploy.Configured, 1},
		"applied 1: a field less":              {map[string]any{"a": "1", "b": "2"}, nil, map[string]any{"a": "1"}, deploy.Configured, 1},
		"a field less further below":           {map[string]any{"a": map[string]any{"b": "1", "c": "2"}}, nil, map[string]any{"a": map[string]any{"b": "1"}}, deploy.Configured, 1},
		"another item of a list":               {map[string]any{"a": []any{"1", "2"}}, nil, map[string]any{"a": []any{"1", "3"}}, deploy.Configured, 1},
		"nothing any more":                     {map[string]any{"a": "1"}, map[string]any{"b": "2"}, nil, deploy.Configured, 1},
		"nothing before and after":             {nil, map[string]any{"b": "2"}, nil, deploy.Unchanged, 0},
		"applied 2: a contested field":         {nil, map[string]any{"a": "2"}, map[string]any{"a": "1"}, deploy.Conflicted, 1},
		"applied 2: it is taken back":          {map[string]any{"b": "1"}, map[string]any{"a": "2"}, map[string]any{"a": "1", "b": "1"}, deploy.Configured, 2},
		"a status of another type than before": {map[string]any{"a": map[string]any{"b": "1"}}, nil, map[string]any{"a": "1"}, deploy.Configured, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, settings(t, "{}"))
			m := must(deploy.NewManager(cluster))
			_, err := m.ApplyStatus(t.Context(), settingsRef, to(test.first))
			require.NoError(t, err)
			_, err = must(deploy.NewManager(cluster, deploy.FieldManager("other"))).ApplyStatus(t.Context(), settingsRef, to(test.others))
			require.NoError(t, err)
			cluster.take()
			result, err := m.ApplyStatus(t.Context(), settingsRef, to(test.want))
			assert.Equal(t, test.action == deploy.Conflicted, err != nil, "%v", err)
			assert.Equal(t, test.action, result.Action)
			assert.Equal(t, test.calls, result.Calls)
			assert.Len(t, cluster.take(), test.calls)
			assert.Equal(t, settingsRef, result.Ref)
			if err != nil {
				assert.ErrorContains(t, err, ".status.a")
				return
			}
			assert.Equal(t, cluster.get(t, settingsRef), result.Object)
			result, err = m.ApplyStatus(t.Context(), settingsRef, to(test.want))
			require.NoError(t, err)
			assert.Equal(t, deploy.Unchanged, result.Action)
			assert.Zero(t, result.Calls, "one call is enough")
		})
	}
}

func TestApplyStatusPolicies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		options []deploy.Option
		action  deploy.Action
	}{
		"applied 2: forced":                    {[]deploy.Option{deploy.Conflicts(deploy.Force)}, deploy.Configured},
		"forced for this field":                {[]deploy.Option{deploy.Conflicts(deploy.Force, ".status.a")}, deploy.Configured},
		"never taken":                          {[]deploy.Option{deploy.Conflicts(deploy.Fail)}, deploy.Conflicted},
		"not possible":                         {[]deploy.Option{deploy.Conflicts(deploy.Keep)}, deploy.Conflicted},
		"a predecessor's":                      {[]deploy.Option{deploy.TakeOverFrom("other")}, deploy.Configured},
		"an owned object is this manager's":    {[]deploy.Option{deploy.OwnedBy(cart("c"))}, deploy.Configured},
		"applied 2: a dry run changes nothing": {[]deploy.Option{deploy.Conflicts(deploy.Force), deploy.DryRun()}, deploy.Configured},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, settings(t, "{}"))
			_, err := must(deploy.NewManager(cluster, deploy.FieldManager("other"))).ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": "2"}))
			require.NoError(t, err)
			result, _ := must(deploy.NewManager(cluster, test.options...)).ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": "1"}))
			assert.Equal(t, test.action, result.Action)
			dry := len(test.options) == 2
			assert.Equal(t, test.action == deploy.Configured && !dry, cluster.get(t, settingsRef).Object["status"].(map[string]any)["a"] == "1")
			assert.Equal(t, test.action == deploy.Configured, len(result.Taken) == 1, "%v", result.Taken)
		})
	}
	t.Run("applied 2: managers that take a field from each other end", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		ours, theirs := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Force))), must(deploy.NewManager(cluster, deploy.FieldManager("other"), deploy.Conflicts(deploy.Force)))
		var conflict *deploy.ConflictError
		for range 10 {
			_, err := theirs.ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": "2"}))
			if _, err2 := ours.ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": "1"})); errors.As(errors.Join(err, err2), &conflict) {
				break
			}
		}
		require.NotNil(t, conflict)
		assert.True(t, conflict.Fought)
	})
}

func TestApplyStatusRetries(t *testing.T) {
	t.Parallel()
	t.Run("applied 3: it isn't applied to a new object of the name", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		replaced := false
		cluster.before = func(string) error {
			if !replaced {
				replaced = true
				require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
				_, err := cluster.memory.Port().Create(t.Context(), settings(t, "{}"), deploy.CreateOptions{FieldManager: "other"})
				require.NoError(t, err)
			}
			return nil
		}
		var seen []types.UID
		result, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, func(current *unstructured.Unstructured) (map[string]any, error) {
			seen = append(seen, current.GetUID())
			return map[string]any{"of": string(current.GetUID())}, nil
		})
		require.NoError(t, err)
		require.Len(t, seen, 2)
		assert.Equal(t, map[string]any{"of": string(seen[1])}, result.Object.Object["status"])
		assert.Equal(t, 3, result.Calls, "the refused apply, the read and the apply")
	})
	t.Run("applied 3: nor between the read and the second apply", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		applies := 0
		cluster.before = func(call string) error {
			if !strings.HasPrefix(call, "apply") {
				return nil
			}
			applies++
			if applies == 1 {
				return &deploy.StaleError{Ref: settingsRef, Err: errNo}
			}
			if applies == 2 {
				require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
				_, err := cluster.memory.Port().Create(t.Context(), settings(t, "{}"), deploy.CreateOptions{FieldManager: "other"})
				require.NoError(t, err)
			}
			return nil
		}
		result, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, func(current *unstructured.Unstructured) (map[string]any, error) {
			return map[string]any{"of": string(current.GetUID())}, nil
		})
		require.NoError(t, err)
		now := cluster.get(t, settingsRef)
		assert.Equal(t, map[string]any{"of": string(now.GetUID())}, now.Object["status"])
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, 4, result.Calls, "two applies, the read, and the apply for the new object")
	})
	t.Run("it ends", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		stale := &deploy.StaleError{Ref: settingsRef, Err: errNo}
		cluster.before = failing("apply", stale, stale, stale, stale, stale, stale, stale)
		result, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": 1}))
		require.ErrorIs(t, err, stale)
		assert.Equal(t, deploy.Failed, result.Action)
		assert.Equal(t, 9, result.Calls, "five attempts, four reads between them")
	})
	t.Run("an absent object", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		result, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, nil)
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, result.Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("a kind without the subresource", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		cluster.before = failing("apply", &deploy.NotFoundError{Ref: settingsRef})
		result, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, to(map[string]any{"a": 1}))
		require.ErrorContains(t, err, "its kind has no status subresource")
		assert.Equal(t, deploy.Failed, result.Action)
	})
	t.Run("compute fails", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, settings(t, "{}"))
		_, err := must(deploy.NewManager(cluster)).ApplyStatus(t.Context(), settingsRef, func(*unstructured.Unstructured) (map[string]any, error) { return nil, errNo })
		require.EqualError(t, err, "ConfigMap shop/settings: status: no")
		assert.Empty(t, cluster.take())
	})
}

// Calls are counted on every path.
func TestStatusCalls(t *testing.T) {
	t.Parallel()
	stale := &deploy.StaleError{Ref: settingsRef, Err: errNo}
	busy := &deploy.UnavailableError{Ref: settingsRef, Err: errNo}
	for name, test := range map[string]struct {
		before func(call string) error
		status map[string]any
		action deploy.Action
		calls  int
	}{
		"calls 1: nothing to change":                {nil, map[string]any{"ready": true}, deploy.Unchanged, 0},
		"calls 1: a change":                         {nil, map[string]any{"ready": false}, deploy.Configured, 1},
		"calls 1: a conflict and a read":            {failing("patch", stale), map[string]any{"ready": false}, deploy.Configured, 3},
		"calls 1: a request that is retried":        {failing("patch", busy), map[string]any{"ready": false}, deploy.Configured, 2},
		"calls 1: a conflict, and the read retried": {failing("", stale, busy), map[string]any{"ready": false}, deploy.Configured, 4},
		"calls 1: a refusal":                        {failing("patch", &deploy.ForbiddenError{Err: errNo}), map[string]any{"ready": false}, deploy.Failed, 1},
		"calls 1: a conflict, and the read refused": {failing("", stale, &deploy.ForbiddenError{Err: errNo}), map[string]any{"ready": false}, deploy.Failed, 2},
		"calls 1: no such subresource":              {failing("patch", &deploy.NotFoundError{Ref: settingsRef}), map[string]any{"ready": false}, deploy.Failed, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, withStatus(t, "{ready: true}"))
			cluster.before = test.before
			result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, to(test.status))
			assert.Equal(t, test.action == deploy.Failed, err != nil, "%v", err)
			assert.Equal(t, test.action, result.Action)
			assert.Equal(t, test.calls, result.Calls)
			assert.Len(t, cluster.take(), test.calls)
		})
	}
}

// A write whose response was lost has changed the object, although the second try is refused.
func TestStatusWithALostResponse(t *testing.T) {
	t.Parallel()
	want := map[string]any{"ready": "yes"}
	for verb, write := range map[string]func(m *deploy.Manager) (deploy.Result, error){
		"patch": func(m *deploy.Manager) (deploy.Result, error) { return m.SetStatus(t.Context(), settingsRef, to(want)) },
		"apply": func(m *deploy.Manager) (deploy.Result, error) {
			return m.ApplyStatus(t.Context(), settingsRef, to(want))
		},
	} {
		t.Run("calls 1: the response to the "+verb+" is lost", func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, settings(t, "{}"))
			lost := false
			cluster.before = func(call string) error {
				if lost {
					return nil
				}
				lost = true
				_, err := write(must(deploy.NewManager(cluster.memory)))
				require.NoError(t, err)
				return &deploy.UnavailableError{Ref: settingsRef, Err: errNo}
			}
			result, err := write(must(deploy.NewManager(cluster)))
			require.NoError(t, err)
			assert.Equal(t, deploy.Configured, result.Action)
			assert.Equal(t, 3, result.Calls, "the first try, the second one and the read")
			assert.Len(t, cluster.take(), 3)
		})
	}
}
