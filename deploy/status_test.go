package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

type compute = func(current *unstructured.Unstructured) (map[string]any, error)

func to(status map[string]any) compute {
	return func(*unstructured.Unstructured) (map[string]any, error) { return status, nil }
}

func withStatus(t testing.TB, status string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: shop}\nstatus: "+status)
}

func TestSetStatus(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string
		want   map[string]any
		// patch is the status that is sent; empty: no call.
		patch string
	}{
		"deploy 22: no difference is no call": {"{ready: true, list: [1]}", map[string]any{"ready": true, "list": []any{1}}, ""},
		"the first status":                    {"null", map[string]any{"ready": true}, `{"ready":true}`},
		"only what differs":                   {"{ready: true, reason: a}", map[string]any{"ready": true, "reason": "b"}, `{"reason":"b"}`},
		"only what differs further below":     {"{a: {b: 1, c: 2}}", map[string]any{"a": map[string]any{"b": 1, "c": 3}}, `{"a":{"c":3}}`},
		"a field that goes":                   {"{a: 1, b: 2}", map[string]any{"a": 1}, `{"b":null}`},
		"a map in the place of a value":       {"{a: 1}", map[string]any{"a": map[string]any{"b": 1}}, `{"a":{"b":1}}`},
		"a value in the place of a map":       {"{a: {b: 1}}", map[string]any{"a": 1}, `{"a":1}`},
		"an empty map":                        {"{}", map[string]any{"a": map[string]any{}}, `{"a":{}}`},
		"no status at all":                    {"{a: 1}", nil, `{"a":null}`},
		"null is absent":                      {"{a: {}}", map[string]any{"a": map[string]any{"b": nil}, "c": nil}, ""},
		"null where something was":            {"{a: 1}", map[string]any{"a": nil}, `{"a":null}`},
		"integers of any type":                {"{a: 1, b: [2]}", map[string]any{"a": int32(1), "b": []any{uint8(2)}}, ""},
		"typed values":                        {"{conditions: [{type: Ready, status: 'True', reason: r, message: m}]}", map[string]any{"conditions": []metav1.Condition{{Type: "Ready", Status: "True", Reason: "r", Message: "m"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, withStatus(t, test.before))
			m := must(deploy.NewManager(cluster))
			before := cluster.get(t, settingsRef)
			result, err := m.SetStatus(t.Context(), settingsRef, to(test.want))
			require.NoError(t, err)
			if test.patch == "" {
				assert.Equal(t, deploy.Unchanged, result.Action)
				assert.Empty(t, cluster.take())
				assert.Equal(t, before, cluster.get(t, settingsRef))
				return
			}
			assert.Equal(t, deploy.Configured, result.Action)
			assert.Equal(t, []string{fmt.Sprintf(`patch %s status {"metadata":{"resourceVersion":"1","uid":%q},"status":%s}`,
				settingsName, before.GetUID(), test.patch)}, cluster.take())
			assert.Equal(t, cluster.get(t, settingsRef), result.Object)
			result, err = m.SetStatus(t.Context(), settingsRef, to(test.want))
			require.NoError(t, err)
			assert.Equal(t, deploy.Unchanged, result.Action)
			assert.Empty(t, cluster.take(), "one call is enough")
		})
	}
}

func TestSetStatusConflict(t *testing.T) {
	t.Parallel()
	// addReady adds a condition to those that are there.
	addReady := func(current *unstructured.Unstructured) (map[string]any, error) {
		conditions, _, err := unstructured.NestedSlice(current.Object, "status", "conditions")
		return map[string]any{"conditions": append(conditions, map[string]any{"type": "Ready"})}, err
	}
	t.Run("status W6: computed anew from what is there, nothing of others is lost", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		edited := false
		cluster.before = func(call string) error {
			if !edited {
				edited = true
				other := must(deploy.NewManager(cluster.memory, deploy.FieldManager("other")))
				_, err := other.SetStatus(t.Context(), settingsRef, to(map[string]any{"conditions": []any{map[string]any{"type": "Theirs"}}}))
				assert.NoError(t, err)
			}
			return nil
		}
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, addReady)
		require.NoError(t, err)
		assert.Equal(t, deploy.Configured, result.Action)
		assert.Equal(t, map[string]any{"conditions": []any{map[string]any{"type": "Theirs"}, map[string]any{"type": "Ready"}}}, result.Object.Object["status"])
		calls := cluster.take()
		require.Len(t, calls, 3)
		assert.Equal(t, "get "+settingsName, calls[1], "the fresh read goes past the View")
	})
	t.Run("deploy 15: it ends", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		stale := &deploy.StaleError{Ref: settingsRef, Err: errNo}
		cluster.before = failing("patch", stale, stale, stale, stale, stale, stale, stale)
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, addReady)
		require.ErrorIs(t, err, stale)
		assert.Equal(t, deploy.Failed, result.Action)
		assert.Len(t, cluster.take(), 9, "five attempts, four reads between them")
	})
	t.Run("gone between two attempts", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		cluster.before = func(call string) error {
			if call[:3] == "get" {
				return nil
			}
			require.NoError(t, cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{}))
			return &deploy.StaleError{Ref: settingsRef, Err: errNo}
		}
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, addReady)
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, result.Action)
	})
}

func TestSetStatusOfNothing(t *testing.T) {
	t.Parallel()
	unasked := func(*unstructured.Unstructured) (map[string]any, error) {
		return nil, errors.New("compute was asked")
	}
	t.Run("deploy 37: an absent object is skipped", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, unasked)
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, result.Action)
		assert.Empty(t, cluster.take())
	})
	t.Run("gone meanwhile", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		cluster.before = func(string) error {
			err := cluster.memory.Port().Delete(t.Context(), settingsRef, deploy.DeleteOptions{})
			var absent *deploy.NotFoundError
			if errors.As(err, &absent) {
				return nil
			}
			return err
		}
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, to(map[string]any{"a": 1}))
		require.NoError(t, err)
		assert.Equal(t, deploy.Skipped, result.Action)
	})
	t.Run("deploy W13: a kind without status subresource is told", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		cluster.before = failing("patch", &deploy.NotFoundError{Ref: settingsRef})
		result, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, to(map[string]any{"a": 1}))
		var invalid *deploy.InvalidError
		require.ErrorAs(t, err, &invalid)
		assert.ErrorContains(t, err, "its kind has no status subresource")
		assert.Equal(t, deploy.Failed, result.Action)
	})
	t.Run("compute fails", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		_, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, unasked)
		require.EqualError(t, err, "ConfigMap shop/settings: status: compute was asked")
		assert.Empty(t, cluster.take())
	})
	t.Run("a status that is no JSON", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		_, err := must(deploy.NewManager(cluster)).SetStatus(t.Context(), settingsRef, to(map[string]any{"a": func() {}}))
		require.ErrorContains(t, err, "ConfigMap shop/settings: status: json: unsupported type")
		assert.Empty(t, cluster.take())
	})
	t.Run("a dry run", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t, withStatus(t, "{}"))
		result, err := must(deploy.NewManager(cluster, deploy.DryRun())).SetStatus(t.Context(), settingsRef, to(map[string]any{"a": "b"}))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"a": "b"}, result.Object.Object["status"])
		assert.NotContains(t, cluster.get(t, settingsRef).Object["status"], "a")
	})
}

// What the schema drops is no change, however often it is sent.
func TestSetStatusThatIsntKept(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t, settings(t, "{}"))
	port := keepingCluster{cluster}
	m := must(deploy.NewManager(port))
	result, err := m.SetStatus(t.Context(), settingsRef, func(*unstructured.Unstructured) (map[string]any, error) {
		return map[string]any{"dropped": true}, nil
	})
	require.NoError(t, err)
	assert.Equal(t, deploy.Unchanged, result.Action)
}

// keepingCluster has a schema without any field of a status.
type keepingCluster struct{ *recording }

func (c keepingCluster) Port() deploy.Port { return keepingPort{c.recording.Port()} }

type keepingPort struct{ deploy.Port }

func (p keepingPort) Patch(ctx context.Context, ref deploy.Ref, _ deploy.PatchRequest) (*unstructured.Unstructured, error) {
	return p.Get(ctx, ref)
}
