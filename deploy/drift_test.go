package deploy_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// FuzzDrift applies any spec and has another manager change it in any way. Whatever was
// done to the fields of the intent is repaired, and the object settles at zero calls.
func FuzzDrift(f *testing.F) {
	f.Add(`{"replicas":1,"rules":{"one":{"to":"here"}}}`, `{"rules":{"one":{"to":"there"}}}`)
	f.Add(`{"a":{"b":{"c":1}}}`, `{"a":{"b":{"c":null}}}`)
	f.Add(`{"a":{"b":{"c":1}}}`, `{"a":{"b":null,"d":[1]}}`)
	f.Add(`{"a":[1,{"b":2}],"c":{}}`, `{"a":[1],"c":{"x":"y"}}`)
	f.Add(`{"a":{"b":""}}`, `{"a":{"b":{"c":{}}}}`)
	f.Add(`{"a":{"b":1.5},"c":null}`, `7`)
	f.Fuzz(func(t *testing.T, spec, edit string) {
		var wanted map[string]any
		var change any
		if apijson.Unmarshal([]byte(spec), &wanted) != nil || json.Unmarshal([]byte(edit), &change) != nil || len(wanted) == 0 {
			return
		}
		intent := web(t, "{}")
		intent.Object["spec"] = wanted
		cluster := newCluster(t)
		m := must(deploy.NewManager(cluster))
		require.NoError(t, apply(t, m, intent).Err)
		settled(t, cluster, m, intent)

		body, err := json.Marshal(map[string]any{"spec": change})
		require.NoError(t, err)
		ref := deploy.RefOf(intent)
		_, err = cluster.memory.Port().Patch(t.Context(), ref, deploy.PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: "kubectl"})
		if err != nil {
			return
		}
		require.NoError(t, apply(t, m, intent).Err)
		if live := cluster.get(t, ref).Object["spec"]; !holds(floats(t, live), floats(t, wanted)) {
			t.Fatalf("after %s\nof %s\nit stayed %v", edit, spec, live)
		}
		settled(t, cluster, m, intent)
	})
}

func settled(t *testing.T, cluster *recording, m *deploy.Manager, intent *unstructured.Unstructured) {
	t.Helper()
	cluster.take()
	require.Equal(t, deploy.Unchanged, apply(t, m, intent).Action)
	require.Empty(t, cluster.take())
}

// floats makes all numbers comparable.
func floats(t *testing.T, value any) (out any) {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &out))
	return out
}

// holds tells whether live has all that is wanted. A zero value may be absent.
func holds(live, wanted any) bool {
	switch w := wanted.(type) {
	case map[string]any:
		l, ok := live.(map[string]any)
		for key, item := range w {
			if _, there := l[key]; !there && zero(item) {
				continue
			}
			if !holds(l[key], item) {
				return false
			}
		}
		return ok || zero(wanted)
	case []any:
		return reflect.DeepEqual(live, withoutNulls(wanted)) || zero(wanted)
	}
	return reflect.DeepEqual(live, wanted)
}

func zero(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return value == nil || reflect.ValueOf(value).IsZero()
}

func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range v {
			if item != nil {
				out[key] = withoutNulls(item)
			}
		}
		return out
	case []any:
		out := []any{}
		for _, item := range v {
			out = append(out, withoutNulls(item))
		}
		return out
	}
	return value
}
