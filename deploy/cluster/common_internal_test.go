package cluster

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rendered is what a template makes of a name, as an API server writes it.
func rendered(name string) string {
	return fmt.Sprintf(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":%[1]q,"namespace":"shop","uid":"uid-of-%[1]s","resourceVersion":"7",
		"labels":{"app":%[1]q,"team":"red"},"managedFields":[
			{"manager":"operkit","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}},"f:metadata":{"f:labels":{"f:app":{}}}}},
			{"manager":"kubectl-label","operation":"Update","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:team":{}}}}},
			{"manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
			{"manager":"kube","operation":"Update","subresource":"status","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:replicas":{}}}}]},
		"spec":{"replicas":2,"ratio":0.5,"paused":false,"nothing":null,"template":{"containers":[{"name":"main","args":["a","b"]}],"big":%[2]q}}}`, name, strings.Repeat("x", 500))
}

func decoded(t testing.TB, c *common, document string) *unstructured.Unstructured {
	t.Helper()
	obj, err := decoder{common: c}.decode([]byte(document), schema.GroupVersionKind{})
	require.NoError(t, err)
	return obj
}

func at(obj *unstructured.Unstructured, path ...string) map[string]any {
	content := obj.Object
	for _, key := range path {
		content, _ = content[key].(map[string]any)
	}
	return content
}

func TestCommonParts(t *testing.T) {
	t.Parallel()
	c := newCommon()
	plain := func(name string) *unstructured.Unstructured { return decoded(t, nil, rendered(name)) }
	var all []*unstructured.Unstructured
	for i := range 10 {
		name := fmt.Sprint("web-", i)
		obj := decoded(t, c, rendered(name))
		require.Equal(t, plain(name).Object, obj.Object, "whatever is shared, an object is what it was")
		all = append(all, c.needed(obj))
		require.Equal(t, plain(name).Object, obj.Object, "who has read the object has it as it was")
	}
	same := func(path ...string) bool {
		return reflect.ValueOf(at(all[8], path...)).Pointer() == reflect.ValueOf(at(all[9], path...)).Pointer()
	}
	assert.True(t, same("spec"), "what a template has rendered into all of them is there once")
	assert.True(t, same("spec", "template"))
	assert.False(t, same("metadata", "labels"))
	assert.False(t, same("metadata"))

	entries := func(i int) []any { return at(all[i], "metadata")["managedFields"].([]any) }
	assert.Same(t, &entries(8)[0], &entries(9)[0], "who owns what too")
	var kept []string
	for _, item := range entries(9) {
		entry := item.(map[string]any)
		kept = append(kept, fmt.Sprint(entry["manager"], " ", entry["subresource"], " ", entry["time"]))
	}
	assert.Equal(t, []string{"operkit <nil> <nil>", "kubectl-label <nil> 2026-01-02T00:00:00Z", "hpa scale <nil>"}, kept,
		"the time counts only for who owns metadata alone, and a status for nobody")
}

func TestCommonIsBounded(t *testing.T) {
	t.Parallel()
	c := newCommon()
	for i := range 2 * commonSets * commonPlaces {
		document := fmt.Sprintf(`{"kind":"K","apiVersion":"v1","metadata":{"name":"a","labels":{"n":"%d"}},"spec":{"n":%d,"list":[{"of":"%d"}]}}`, i, i, i)
		for range 2 {
			obj := decoded(t, c, document)
			require.Equal(t, int64(i), at(obj, "spec")["n"])
			require.Equal(t, fmt.Sprint(i), obj.GetLabels()["n"])
		}
	}
	large := make([]string, commonSize+1)
	for i := range large {
		large[i] = `"x"`
	}
	document := `{"kind":"K","apiVersion":"v1","metadata":{"name":"a"},"spec":{"list":[` + strings.Join(large, ",") + `]}}`
	first, second, third := decoded(t, c, document), decoded(t, c, document), decoded(t, c, document)
	assert.Equal(t, first.Object, third.Object)
	assert.NotEqual(t, reflect.ValueOf(at(second, "spec")).Pointer(), reflect.ValueOf(at(third, "spec")).Pointer(), "what is that large isn't kept for others")
}

// What has metadata, labels or managedFields that make no sense is held as it is.
func TestCommonBadObjects(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{
		`null`, `"x"`, `[]`, `{}`, `{"managedFields":null}`, `{"managedFields":"x"}`, `{"managedFields":[null,"x",{}, {"fieldsV1":7}]}`, `{"labels":[1]}`,
	} {
		document := `{"kind":"K","apiVersion":"v1","metadata":` + metadata + `}`
		c := newCommon()
		for range 3 {
			obj := decoded(t, c, document)
			assert.Equal(t, decoded(t, nil, document).Object, obj.Object, metadata)
			assert.NotPanics(t, func() { c.needed(obj) }, metadata)
		}
	}
}

func FuzzCommon(f *testing.F) {
	f.Add([]byte(rendered("a")), []byte(rendered("b")))
	f.Add([]byte(`{"kind":"K","a":0,"b":[-0.0,0.0,1e3]}`), []byte(`{"kind":"K","b":[0.0,-0.0,1000],"a":{"a":{}}}`))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		c := newCommon()
		var held []*unstructured.Unstructured
		for range 3 {
			for _, document := range [][]byte{one, other} {
				shared, err := decoder{common: c}.decode(document, schema.GroupVersionKind{})
				plain, problem := decoder{}.decode(document, schema.GroupVersionKind{})
				if problem != nil {
					require.Error(t, err)
					return
				}
				require.NoError(t, err)
				require.Equal(t, plain.Object, shared.Object)
				held = append(held, c.needed(shared))
				require.Equal(t, plain.Object, shared.Object)
			}
		}
		for i, obj := range held {
			if i >= 2 {
				require.Equal(t, held[i%2].Object, obj.Object, "what is held doesn't change with what comes after it")
			}
		}
	})
}
