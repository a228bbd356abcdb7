package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// settings is shaped as API structs are.
type settings struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Replicas          int32             `json:"replicas"`
	Data              map[string]string `json:"data,omitempty"`
}

// settingsApply is shaped as apply configurations are: what isn't set is nil.
type settingsApply struct {
	Kind       *string        `json:"kind,omitempty"`
	APIVersion *string        `json:"apiVersion,omitempty"`
	Metadata   *metadataApply `json:"metadata,omitempty"`
	Replicas   *int32         `json:"replicas,omitempty"`
}

type metadataApply struct {
	Name   *string           `json:"name,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
}

func aSettings() settings {
	return settings{
		TypeMeta:   metav1.TypeMeta{APIVersion: "example.dev/v1", Kind: "Settings"},
		ObjectMeta: metav1.ObjectMeta{Name: "s"}, Replicas: 2, Data: map[string]string{"a": "b"},
	}
}

func pointer[T any](value T) *T { return &value }

func TestToObject(t *testing.T) {
	t.Parallel()
	typed := aSettings()
	for _, row := range []struct {
		reason string
		value  any
		want   string
	}{
		{"an unstructured object", configMap("c"), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"key":"value"}}`},
		{"a plain map", configMap("c").Object, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"key":"value"}}`},
		{"a map of Go's own types becomes plain", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": "c"}, "n": 3, "l": []any{1, "x"},
		}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"n":3,"l":[1,"x"]}`},
		{"also below lists", map[string]any{"apiVersion": "v1", "kind": "List", "l": []any{1}}, `{"apiVersion":"v1","kind":"List","l":[1]}`},
		{"an unstructured object of Go's own types too", &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}, "n": []int{3},
		}}, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"n":[3]}`},
		{"an API struct by pointer", &typed, `{"apiVersion":"example.dev/v1","kind":"Settings","metadata":{"name":"s"},"replicas":2,"data":{"a":"b"}}`},
		{"an API struct by value", typed, `{"apiVersion":"example.dev/v1","kind":"Settings","metadata":{"name":"s"},"replicas":2,"data":{"a":"b"}}`},
		{"reconcile 11: an apply configuration has what was set, zeros included", &settingsApply{
			Kind: pointer("Settings"), APIVersion: pointer("example.dev/v1"),
			Metadata: &metadataApply{Name: pointer("s")}, Replicas: pointer[int32](0),
		}, `{"apiVersion":"example.dev/v1","kind":"Settings","metadata":{"name":"s"},"replicas":0}`},
		{"an unstructured object by value", *configMap("c"), `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"key":"value"}}`},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			before := encoded(t, row.value)
			obj, err := toObject(row.value)
			require.NoError(t, err)
			assert.True(t, plain.Is(obj.Object), "it has only plain values")
			content := obj.DeepCopy()
			unstructured.RemoveNestedField(content.Object, "metadata", "creationTimestamp")
			assert.JSONEq(t, row.want, encoded(t, content.Object))
			assert.Equal(t, before, encoded(t, row.value), "the value isn't changed")
		})
	}
}

func TestToObjectSharesPlainOnes(t *testing.T) {
	t.Parallel()
	given := configMap("c")
	obj, err := toObject(given)
	require.NoError(t, err)
	assert.Same(t, given, obj, "no copy without need")
}

func TestToObjectRefuses(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		value  any
		want   string
	}{
		{"nothing", nil, "an object is nil"},
		{"a nil object", (*unstructured.Unstructured)(nil), "an object is nil"},
		{"an object without content", &unstructured.Unstructured{}, "an object is nil"},
		{"a nil map", map[string]any(nil), "an object is nil"},
		{"a nil struct", (*settings)(nil), "an object of type *reconcile.settings is nil"},
		{"a string", "ConfigMap", "a value of type string isn't an object: pass an API struct, an apply configuration, or a plain object"},
		{"a list of objects", []*unstructured.Unstructured{configMap("c")},
			"a value of type []*unstructured.Unstructured isn't an object: pass an API struct, an apply configuration, or a plain object"},
		{"reconcile 14: an API struct without its TypeMeta", settings{ObjectMeta: metav1.ObjectMeta{Name: "s"}},
			`an object of type reconcile.settings (name "s") has no apiVersion and kind: set its TypeMeta or use an apply configuration`},
		{"reconcile 14, 19, mistake 18: a plain object without kind", map[string]any{"apiVersion": "v1", "metadata": map[string]any{"name": "c"}},
			`an object of type map[string]interface {} (name "c") has no apiVersion and kind: set its TypeMeta or use an apply configuration`},
		{"reconcile 14, 19, mistake 18: an unstructured one without kind", &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1"}},
			`an object of type *unstructured.Unstructured (name "") has no apiVersion and kind: set its TypeMeta or use an apply configuration`},
		{"what JSON can't hold", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "f": func() {}},
			"an object of type map[string]interface {} can't be converted: json: unsupported type: func()"},
		{"a struct that JSON can't hold", struct{ F func() }{func() {}}, "an object of type struct { F func() } can't be converted: unrecognized type: func"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			obj, err := toObject(row.value)
			assert.Nil(t, obj)
			assert.EqualError(t, err, row.want)
		})
	}
}

func encoded(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	require.NoError(t, err)
	return string(text)
}
