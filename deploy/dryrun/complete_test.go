package dryrun_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apijson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// boxes declares the kind Box, whose spec has the field it with a schema.
const boxes = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {it: %s}}}}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, default: {}, properties: {its: {type: string, default: two}}}}}}
`

const boxHead = "apiVersion: shop.example.com/v1\nkind: Box\nmetadata: {name: b, namespace: shop}\n"

// tools/integration/definition compares the same kinds of schemas with a real API server.
func TestComplete(t *testing.T) {
	t.Parallel()
	nested := "{type: object, properties: {size: {type: integer, default: 3}, color: {type: string}}}"
	for name, row := range map[string]struct {
		reason             string
		schema, spec, want string
		unknown            []dryrun.UnknownField
	}{
		"a missing field":              {"the plain case", "{type: integer, default: 3}", "{}", "{it: 3}", nil},
		"a given value":                {"a default replaces nothing", "{type: integer, default: 3}", "{it: 0}", "{it: 0}", nil},
		"null, not nullable":           {"it counts as missing", "{type: integer, default: 3}", "{it: null}", "{it: 3}", nil},
		"null, nullable":               {"it is a value", "{type: integer, default: 3, nullable: true}", "{it: null}", "{it: null}", nil},
		"null without a default":       {"a server drops it", "{type: integer}", "{it: null}", "{}", nil},
		"a missing parent":             {"nothing creates it", nested, "{}", "{}", nil},
		"an empty parent":              {"its fields get their defaults", nested, "{it: {}}", "{it: {size: 3}}", nil},
		"a parent with a default":      {"its default is completed, too", "{type: object, default: {}, properties: {size: {type: integer, default: 3}}}", "{}", "{it: {size: 3}}", nil},
		"items":                        {"each item is completed", "{type: array, items: " + nested + "}", "{it: [{}, {size: 1}]}", "{it: [{size: 3}, {size: 1}]}", nil},
		"a null item":                  {"it becomes the default of items", "{type: array, items: {type: integer, default: 3}}", "{it: [1, null]}", "{it: [1, 3]}", nil},
		"arbitrary names":              {"each value is completed", "{type: object, additionalProperties: " + nested + "}", "{it: {a: {}}}", "{it: {a: {size: 3}}}", nil},
		"null under an arbitrary name": {"it becomes the default of the values", "{type: object, additionalProperties: {type: integer, default: 3}}", "{it: {a: null}}", "{it: {a: 3}}", nil},
		"preserved fields": {"unknown fields stay beside defaults", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {size: {type: integer, default: 3}}}",
			"{it: {other: {deep: null}}}", "{it: {size: 3, other: {deep: null}}}", nil},
		"below preserved fields": {"a declared field isn't preserved itself", "{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {inner: " + nested + "}}",
			"{it: {inner: {colour: red}}}", "{it: {inner: {size: 3}}}", []dryrun.UnknownField{{Path: "spec.it.inner.colour", Beside: []string{"color", "size"}}}},
		"a misspelt field": {"it is left out", nested, "{it: {colour: red}}", "{it: {size: 3}}", []dryrun.UnknownField{{Path: "spec.it.colour", Beside: []string{"color", "size"}}}},
		"in an item": {"the path has its index", "{type: array, items: " + nested + "}", "{it: [{}, {colour: red}]}", "{it: [{size: 3}, {size: 3}]}",
			[]dryrun.UnknownField{{Path: "spec.it[1].colour", Beside: []string{"color", "size"}}}},
		"a value without a schema": {"its fields are unknown", "{type: object, additionalProperties: true}", "{it: {a: 1, b: {c: 1}}}", "{it: {a: 1, b: {}}}",
			[]dryrun.UnknownField{{Path: "spec.it.b.c"}}},
	} {
		t.Run("complete 1: "+name, func(t *testing.T) {
			t.Parallel()
			cluster := declaringBox(t, row.schema)
			given := object(t, boxHead+"spec: "+row.spec)
			before := given.DeepCopy()
			completed, err := cluster.Complete(given)
			require.NoError(t, err)
			assert.Equal(t, object(t, boxHead+"spec: "+row.want).Object["spec"], completed.Object.Object["spec"], row.reason)
			assert.Equal(t, row.unknown, completed.Unknown)
			assert.False(t, completed.Schemaless)
			assert.Equal(t, before, given, "the argument isn't changed")
		})
	}
}

// declaringBox is a cluster that knows boxes with a schema.
func declaringBox(t testing.TB, schema string) *dryrun.Cluster {
	t.Helper()
	cluster, err := dryrun.New(dryrun.Objects(object(t, fmt.Sprintf(boxes, schema))), dryrun.Namespaces("shop"))
	require.NoError(t, err)
	return cluster
}

func TestCompleteByKind(t *testing.T) {
	t.Parallel()
	t.Run("each version has its own schema", func(t *testing.T) {
		t.Parallel()
		completed, err := declaringBox(t, "{type: integer, default: 3}").Complete(object(t, "{apiVersion: shop.example.com/v2, kind: Box, metadata: {name: b, namespace: shop}}"))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"its": "two"}, completed.Object.Object["spec"])
	})
	t.Run("the metadata of every kind is known", func(t *testing.T) {
		t.Parallel()
		for _, cluster := range []*dryrun.Cluster{declaringBox(t, "{type: integer}"), newCluster(t)} {
			completed, err := cluster.Complete(object(t, "{apiVersion: shop.example.com/v1, kind: Box, metadata: {name: b, namespace: shop, lables: {a: b}}}"))
			require.NoError(t, err)
			require.Len(t, completed.Unknown, 1)
			assert.Equal(t, "metadata.lables", completed.Unknown[0].Path)
			assert.Contains(t, completed.Unknown[0].Beside, "labels")
			assert.Equal(t, map[string]any{"name": "b", "namespace": "shop"}, completed.Object.Object["metadata"])
		}
	})
	t.Run("the status is kept and completed", func(t *testing.T) {
		t.Parallel()
		completed, err := declaring(t).Complete(object(t, "{apiVersion: shop.example.com/v1, kind: Shelf, metadata: {name: s, namespace: shop, uid: x}, spec: {color: red}, status: {full: true, ful: 1}}"))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"full": true}, completed.Object.Object["status"])
		assert.Equal(t, "status.ful", completed.Unknown[0].Path)
		assert.Equal(t, "x", string(completed.Object.GetUID()))
	})
	t.Run("a kind without a definition has no defaults", func(t *testing.T) {
		t.Parallel()
		completed, err := newCluster(t).Complete(cart(t, "{a: null, b: {}}"))
		require.NoError(t, err)
		assert.Equal(t, dryrun.Completed{Object: cart(t, "{a: null, b: {}}"), Schemaless: true}, completed)
	})
	t.Run("a built-in kind has no defaults, but unknown fields", func(t *testing.T) {
		t.Parallel()
		completed, err := newCluster(t).Complete(object(t, webHead+"spec: {replica: 1, paused: true}"))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"paused": true}, completed.Object.Object["spec"])
		assert.Equal(t, "spec.replica", completed.Unknown[0].Path)
		assert.Contains(t, completed.Unknown[0].Beside, "replicas")
	})
	t.Run("a kind that isn't served", func(t *testing.T) {
		t.Parallel()
		_, err := declaringBox(t, "{type: integer}").Complete(object(t, "{apiVersion: shop.example.com/v3, kind: Box, metadata: {name: b}}"))
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
	})
}

// FuzzComplete: whatever is completed can be completed again without a change and has no unknown fields then, and a
// value that was given stays, unless it was unknown or null.
func FuzzComplete(f *testing.F) {
	for _, seed := range []string{
		`{"color":"red"}`, `{"size":null,"boards":[{"name":"a"},null,{"wood":null}]}`, `{"labels":{"a":null},"anything":{"a":[{"b":null}]}}`,
		`{"template":{"metadata":{"name":"x","y":1},"spec":{"a":"b","c":1}}}`, `[{"a":{}}]`, `{"tags":{"a":1}}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var spec any
		if apijson.Unmarshal(body, &spec) != nil {
			return
		}
		cluster := declaring(t)
		obj := shelf(t, "{}")
		obj.Object["spec"] = spec
		first, err := cluster.Complete(obj)
		require.NoError(t, err)
		second, err := cluster.Complete(first.Object)
		require.NoError(t, err)
		assert.Equal(t, first.Object, second.Object)
		assert.Empty(t, second.Unknown)
		unknown := map[string]bool{}
		for _, one := range first.Unknown {
			unknown[one.Path] = true
		}
		keeps(t, spec, first.Object.Object["spec"], "spec", unknown)
	})
}

// keeps fails the test if a completed value lacks something of the given value that was neither unknown nor null.
func keeps(t *testing.T, given, completed any, at string, unknown map[string]bool) {
	t.Helper()
	switch given := given.(type) {
	case nil:
	case map[string]any:
		now, ok := completed.(map[string]any)
		require.True(t, ok, at)
		for name, value := range given {
			if below := at + "." + name; !unknown[below] {
				keeps(t, value, now[name], below, unknown)
			}
		}
	case []any:
		now, ok := completed.([]any)
		require.True(t, ok, at)
		require.Len(t, now, len(given), at)
		for i, value := range given {
			keeps(t, value, now[i], fmt.Sprintf("%s[%d]", at, i), unknown)
		}
	default:
		assert.Equal(t, given, completed, at)
	}
}

func ExampleCluster_Complete() {
	definition, box := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	for text, obj := range map[string]*unstructured.Unstructured{
		fmt.Sprintf(boxes, "{type: object, properties: {size: {type: integer, default: 3}, color: {type: string}}}"): definition,
		boxHead + "spec: {it: {colour: red}}": box,
	} {
		if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
			fmt.Println(err)
			return
		}
	}
	cluster, err := dryrun.New(dryrun.Objects(definition), dryrun.Namespaces("shop"))
	if err != nil {
		fmt.Println(err)
		return
	}
	completed, err := cluster.Complete(box)
	if err != nil {
		fmt.Println(err)
		return
	}
	spec, err := json.Marshal(completed.Object.Object["spec"])
	fmt.Println(string(spec), err)
	for _, unknown := range completed.Unknown {
		fmt.Println("unknown:", unknown.Path, "beside", unknown.Beside)
	}
	// Output:
	// {"it":{"size":3}} <nil>
	// unknown: spec.it.colour beside [color size]
}
