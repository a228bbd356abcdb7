package compact_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// rendered is what a template makes of a name, as an API server writes it.
func rendered(name string) string {
	return fmt.Sprintf(`{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":%[1]q,"namespace":"shop","uid":"uid-of-%[1]s","resourceVersion":"7",
		"labels":{"app":%[1]q,"team":"red"},"managedFields":[
			{"manager":"operkit","operation":"Apply","apiVersion":"apps/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}},"f:metadata":{"f:labels":{"f:app":{}}}}},
			{"manager":"kubectl-label","operation":"Update","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:team":{}}}}},
			{"manager":"hpa","operation":"Update","subresource":"scale","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}},
			{"manager":"reporter","operation":"Apply","subresource":"status","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:phase":{}}}},
			{"manager":"kube","operation":"Update","subresource":"status","apiVersion":"apps/v1","time":"2026-01-02T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"f:replicas":{}}}}]},
		"spec":{"replicas":2,"ratio":0.5,"paused":false,"nothing":null,"template":{"containers":[{"name":"main","args":["a","b"]}],"big":%[2]q}}}`, name, strings.Repeat("x", 500))
}

func decoded(t testing.TB, document string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	require.NoError(t, json.Unmarshal([]byte(document), &obj.Object))
	return obj
}

func at(obj *unstructured.Unstructured, path ...string) map[string]any {
	content := obj.Object
	for _, key := range path {
		content, _ = content[key].(map[string]any)
	}
	return content
}

func TestEncodeSharesEqualParts(t *testing.T) {
	t.Parallel()
	pool := compact.NewPool()
	var all []*unstructured.Unstructured
	for i := range 10 {
		name := fmt.Sprint("web-", i)
		obj, want := pool.Encode(decoded(t, rendered(name))).Decode(), decoded(t, rendered(name))
		delete(at(want, "metadata"), "managedFields")
		got := obj.DeepCopy()
		delete(at(got, "metadata"), "managedFields")
		require.Equal(t, want.Object, got.Object)
		all = append(all, obj)
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
	assert.Equal(t, []string{"operkit <nil> <nil>", "kubectl-label <nil> 2026-01-02T00:00:00Z", "hpa scale <nil>", "reporter status <nil>"}, kept,
		"the time counts only for who owns metadata alone, and a status for who applies it")
}

func TestEncodeManyAndLargeObjects(t *testing.T) {
	t.Parallel()
	pool := compact.NewPool()
	for i := range 10_000 {
		document := fmt.Sprintf(`{"kind":"K","apiVersion":"v1","metadata":{"name":"a","labels":{"n":"%d"}},"spec":{"n":%d,"list":[{"of":"%d"}]}}`, i, i, i)
		for range 2 {
			obj := pool.Encode(decoded(t, document)).Decode()
			require.Equal(t, int64(i), at(obj, "spec")["n"])
			require.Equal(t, fmt.Sprint(i), obj.GetLabels()["n"])
		}
	}
	for reason, value := range map[string]string{
		"many values": `[` + strings.Repeat(`"x",`, 2000) + `"x"]`,
		"a long text": `{"a":"` + strings.Repeat("x", 1<<15) + `"}`,
	} {
		encoded := func() *unstructured.Unstructured {
			return pool.Encode(decoded(t, `{"kind":"K","apiVersion":"v1","metadata":{"name":"a"},"spec":`+`{"value":`+value+`}}`)).Decode()
		}
		first, second, third := encoded(), encoded(), encoded()
		assert.Equal(t, first.Object, third.Object, reason)
		assert.NotEqual(t, reflect.ValueOf(at(second, "spec")).Pointer(), reflect.ValueOf(at(third, "spec")).Pointer(), reason+" isn't kept for others")
	}
}

// Metadata, labels or managedFields that make no sense are held as they are.
func TestEncodeBadObjects(t *testing.T) {
	t.Parallel()
	for _, metadata := range []string{
		`null`, `"x"`, `[]`, `{}`, `{"managedFields":null}`, `{"managedFields":"x"}`, `{"managedFields":[null,"x",{},{"fieldsV1":7}]}`, `{"labels":[1]}`,
	} {
		document := `{"kind":"K","apiVersion":"v1","metadata":` + metadata + `}`
		pool := compact.NewPool()
		for range 3 {
			assert.Equal(t, decoded(t, document).Object, pool.Encode(decoded(t, document)).Decode().Object, metadata)
		}
	}
}

func FuzzEncode(f *testing.F) {
	f.Add([]byte(rendered("a")), []byte(rendered("b")))
	f.Add([]byte(`{"kind":"K","a":0,"b":[-0.0,0.0,1e3]}`), []byte(`{"kind":"K","b":[0.0,-0.0,1000],"a":{"a":{}}}`))
	f.Add([]byte(`{"a":[1,2.5,"x",true,null,{"b":[]}],"c":{}}`), []byte(`{"a":[1,2.5,"x",true,null,{"b":[]}]}`))
	f.Add([]byte(`{"a":{"b":{"c":1}}}`), []byte(`{"a":{"b":{"c":"1"}}}`))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		pool := compact.NewPool()
		var held []string
		var objects []*unstructured.Unstructured
		text := func(content map[string]any) string {
			text, err := json.Marshal(content)
			require.NoError(t, err)
			return string(text)
		}
		for range 3 { // seen once, twice, and as what stands for others
			for _, document := range [][]byte{one, other} {
				var content, want map[string]any
				if json.Unmarshal(document, &content) != nil || content == nil || strings.Contains(string(document), "managedFields") && json.Unmarshal(document, &want) == nil && at(&unstructured.Unstructured{Object: want}, "metadata")["managedFields"] != nil {
					return
				}
				require.NoError(t, json.Unmarshal(document, &want))
				obj := pool.Encode(&unstructured.Unstructured{Object: content}).Decode()
				require.Equal(t, text(want), text(obj.Object))
				held, objects = append(held, text(want)), append(objects, obj)
			}
		}
		for i, obj := range objects {
			require.Equal(t, held[i], text(obj.Object), "what is held doesn't change with what comes after it")
		}
	})
}
