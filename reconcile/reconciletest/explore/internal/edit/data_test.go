package edit

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestOfOther(t *testing.T) {
	for _, row := range []struct{ reason, kind, before, after string }{
		{"a text", "ConfigMap", "red", "redx"},
		{"a number in it", "ConfigMap", "10Gi", "11Gi"},
		{"yes and no", "ConfigMap", "true", "false"},
		{"no and yes", "ConfigMap", "false", "true"},
		{"JSON stays JSON", "ConfigMap", `{"a": 1}`, "{\"a\": 1}\n"},
		{"lines stay lines", "ConfigMap", "a: 1\nb: 2\n", "a: 1\nb: 2\n\n"},
		{"base64 of a text", "Secret", "cmVk", "cmVkeA=="},
	} {
		t.Run("explore 55: an entry: "+row.reason, func(t *testing.T) {
			obj := &unstructured.Unstructured{Object: map[string]any{"kind": row.kind, "data": map[string]any{"key": row.before}}}
			edits := OfOther(obj, nil)
			require.Len(t, edits, 1)
			edits[0].Do(obj)
			assert.Equal(t, map[string]any{"key": row.after}, obj.Object["data"])
			assert.Equal(t, []string{"data.key"}, edits[0].Paths)
		})
	}
	for reason, obj := range map[string]*unstructured.Unstructured{
		"no entries":                   {Object: map[string]any{"kind": "ConfigMap"}},
		"a Secret that isn't base64":   {Object: map[string]any{"kind": "Secret", "data": map[string]any{"key": "%"}}},
		"a kind without a schema":      {Object: map[string]any{"kind": "Service", "spec": map[string]any{"type": "ClusterIP"}}},
		"an entry that isn't a string": {Object: map[string]any{"kind": "ConfigMap", "data": map[string]any{"key": int64(1)}}},
	} {
		t.Run("explore 55: no edit: "+reason, func(t *testing.T) { assert.Empty(t, OfOther(obj, nil)) })
	}
	t.Run("explore 55: four entries at most, in the order of their keys", func(t *testing.T) {
		obj := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap", "data": map[string]any{
			"e": "1", "d": "1", "c": "1", "b": "1", "a": "1",
		}}}
		var names []string
		for _, by := range OfOther(obj, nil) {
			names = append(names, by.Name)
		}
		assert.Equal(t, []string{`data.a: "2"`, `data.b: "2"`, `data.c: "2"`, `data.d: "2"`}, names)
	})
}
