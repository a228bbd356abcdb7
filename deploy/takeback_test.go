package deploy_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// messages are fields that were left to others.
func messages(fields []deploy.FieldConflict) []string {
	var out []string
	for _, f := range fields {
		out = append(out, f.Field+": "+f.Message)
	}
	return out
}

func TestScaledIsTold(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		intent string
		kept   []string
	}{
		"the intent has another value":      {"{replicas: 1}", []string{".spec.replicas: left to hpa, which set 5"}},
		"it has the same value":             {"{replicas: 5}", nil},
		"it doesn't name the field":         {"{paused: true}", nil},
		"it names the field and other ones": {"{replicas: 2, paused: true}", []string{".spec.replicas: left to hpa, which set 5"}},
	} {
		for _, strategy := range []deploy.Strategy{deploy.ServerSideApply, deploy.Replace, deploy.OnDelete} {
			t.Run(reason+", by "+string(strategy), func(t *testing.T) {
				t.Parallel()
				cluster := newCluster(t)
				apply(t, must(deploy.NewManager(cluster, deploy.DefaultStrategy(strategy))), web(t, row.intent))
				cluster = scaled(t, cluster, "hpa")
				m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(strategy)))
				for range 3 { // after a restart, and each time
					result := apply(t, m, web(t, row.intent))
					assert.Equal(t, row.kept, messages(result.Kept))
					differences, err := m.Diff(t.Context(), objects(web(t, row.intent)))
					require.NoError(t, err)
					assert.Equal(t, row.kept, messages(differences[0].Kept))
					assert.False(t, differences.Changed())
				}
				if row.kept != nil {
					assert.Empty(t, cluster.take(), "it costs no call")
				}
			})
		}
	}
}

func TestTakeBack(t *testing.T) {
	t.Parallel()
	intent := web(t, "{replicas: 1, paused: false}")
	ref := deploy.RefOf(intent)
	for _, strategy := range []deploy.Strategy{deploy.ServerSideApply, deploy.Replace} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			apply(t, must(deploy.NewManager(cluster, deploy.DefaultStrategy(strategy))), intent)
			cluster = scaled(t, cluster, "hpa")
			m := must(deploy.NewManager(cluster, deploy.DefaultStrategy(strategy)))
			before := cluster.get(t, ref)
			taken, err := m.TakeBack(t.Context(), ref, []string{"spec.replicas"}, deploy.DryRun())
			require.NoError(t, err)
			assert.Equal(t, []string{".spec.replicas: held by hpa"}, messages(taken))
			assert.Equal(t, before, cluster.get(t, ref), "a dry run changes nothing")

			cluster.take()
			taken, err = m.TakeBack(t.Context(), ref, []string{"spec.replicas"})
			require.NoError(t, err)
			assert.Equal(t, []string{".spec.replicas: held by hpa"}, messages(taken))
			assert.Equal(t, before.Object["spec"], cluster.get(t, ref).Object["spec"], "no value changes")
			assert.Len(t, cluster.take(), 2)
			result := apply(t, m, intent)
			require.NoError(t, result.Err)
			assert.True(t, result.Changed())
			assert.Empty(t, result.Kept)
			assert.Equal(t, map[string]any{"replicas": int64(1), "paused": false}, cluster.get(t, ref).Object["spec"])
			assert.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
		})
	}
	t.Run("what was left by Keep, in a list", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Keep)))
		apply(t, m, settings(t, "{a: '1', b: '1'}"))
		cluster.edit(t, settingsRef, `{"data":{"a":"9","b":"9"}}`)
		assert.Len(t, apply(t, m, settings(t, "{a: '1', b: '1'}")).Kept, 2)
		_, err := m.TakeBack(t.Context(), settingsRef, []string{".data.a"})
		require.NoError(t, err)
		assert.Equal(t, []string{".data.b of kubectl"}, fieldsOf(apply(t, m, settings(t, "{a: '1', b: '1'}")).Kept))
		assert.Equal(t, map[string]any{"a": "1", "b": "9"}, cluster.get(t, settingsRef).Object["data"])
	})
	t.Run("refused, and nothing is changed", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		apply(t, m, intent)
		apply(t, must(deploy.NewManager(cluster, deploy.FieldManager("other"))), settings(t, "{a: '1'}"))
		cluster.take()
		for reason, row := range map[string]struct {
			ref    deploy.Ref
			fields []string
			want   string
		}{
			"nobody else holds it":       {ref, []string{"spec.replicas"}, "Deployment shop/web: spec.replicas: no other manager holds it: there is nothing to take back"},
			"a field that there isn't":   {ref, []string{"spec.nothing"}, "no other manager holds it"},
			"no field":                   {ref, nil, "no field is named"},
			"an object of somebody":      {settingsRef, []string{"data.a"}, "was not created for this owner"},
			"an object that isn't there": {deploy.Ref{Kind: configMap, Namespace: "shop", Name: "no"}, []string{"data.a"}, "not found"},
		} {
			_, err := m.TakeBack(t.Context(), row.ref, row.fields)
			require.ErrorContains(t, err, row.want, reason)
		}
		for _, call := range cluster.take() {
			assert.Contains(t, call, "get ")
		}
	})
	t.Run("somebody writes meanwhile", func(t *testing.T) {
		t.Parallel()
		cluster := newCluster(t)
		apply(t, must(deploy.NewManager(cluster)), intent)
		cluster = scaled(t, cluster, "hpa")
		m := must(deploy.NewManager(cluster))
		busy := true
		cluster.before = func(call string) error {
			if busy && strings.HasPrefix(call, "patch "+ref.String()) {
				busy = false
				cluster.edit(t, ref, `{"metadata":{"labels":{"by":"somebody"}}}`)
			}
			return nil
		}
		_, err := m.TakeBack(t.Context(), ref, []string{"spec.replicas"})
		require.NoError(t, err)
		assert.Equal(t, "somebody", cluster.get(t, ref).GetLabels()["by"])
		require.Equal(t, deploy.Configured, apply(t, m, intent).Action)
	})
}

// Whatever others hold, taking it back changes no value, and the next Apply writes it.
func FuzzTakeBack(f *testing.F) {
	f.Add([]byte("1a2b3c4d5e6f"))
	f.Add([]byte("\x03\x00\x02\x01\x03\x01\x00\x02\x02\x02\x01\x02\x03\x00\x01\x02\x01"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &tree{data}
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster, deploy.Conflicts(deploy.Keep)))
		intent := widget(s.fields(2))
		ref := deploy.RefOf(intent)
		apply(t, m, intent)
		body, err := json.Marshal(map[string]any{"spec": s.fields(2)})
		require.NoError(t, err)
		_, err = cluster.Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: "kubectl"})
		require.NoError(t, err)
		kept := apply(t, m, intent).Kept
		if len(kept) == 0 {
			return
		}
		var fields []string
		for _, field := range kept {
			fields = append(fields, field.Field)
		}
		before := cluster.get(t, ref)
		taken, err := m.TakeBack(t.Context(), ref, fields)
		require.NoError(t, err)
		require.NotEmpty(t, taken)
		require.Equal(t, before.Object["spec"], cluster.get(t, ref).Object["spec"])
		result := apply(t, m, intent)
		require.NoError(t, result.Err)
		require.Empty(t, result.Kept)
		require.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
	})
}
