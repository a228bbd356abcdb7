package dryrun_test

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const shelves = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shelves.shop.example.com}
spec:
  group: shop.example.com
  scope: Namespaced
  names: {kind: Shelf, plural: shelves, singular: shelf, shortNames: [sh]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [color]
            properties:
              color: {type: string, enum: [red, blue]}
              size: {type: integer, default: 3, minimum: 1}
              port: {x-kubernetes-int-or-string: true}
              boards:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    wood: {type: string, default: oak}
                    layer: {type: integer}
              tags: {type: array, x-kubernetes-list-type: set, items: {type: string}}
              steps: {type: array, items: {type: string}}
              labels: {type: object, additionalProperties: {type: string}}
              anything: {type: object, x-kubernetes-preserve-unknown-fields: true}
              template:
                type: object
                x-kubernetes-embedded-resource: true
                properties: {spec: {type: object, properties: {a: {type: string}}}}
          status:
            type: object
            properties: {full: {type: boolean}}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {color: {type: string}}}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

var (
	shelfKind = schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Shelf"}
	shelfRef  = deploy.Ref{Kind: shelfKind, Namespace: "shop", Name: "s"}
)

func shelf(t testing.TB, spec string) *unstructured.Unstructured {
	t.Helper()
	return object(t, "apiVersion: shop.example.com/v1\nkind: Shelf\nmetadata: {name: s, namespace: shop}\nspec: "+spec)
}

// declaring is a cluster that knows what a server knows, and shelves.
func declaring(t testing.TB, options ...dryrun.Option) *dryrun.Cluster {
	t.Helper()
	cluster, err := dryrun.New(append([]dryrun.Option{dryrun.Objects(object(t, shelves)), dryrun.Namespaces("shop")}, options...)...)
	require.NoError(t, err)
	return cluster
}

func TestDefinitionMakesItsKindsKnown(t *testing.T) {
	t.Parallel()
	cluster, err := dryrun.New(dryrun.Namespaces("shop"))
	require.NoError(t, err)
	definition := apply(t, cluster, "operkit", object(t, shelves))
	t.Run("each version that is served, and no other", func(t *testing.T) {
		for version, served := range map[string]bool{"v1": true, "v1beta1": true, "v0": false, "v2": false} {
			scope, err := cluster.Port().Scope(t.Context(), shelfKind.GroupKind().WithVersion(version))
			if served {
				require.NoError(t, err)
				assert.Equal(t, deploy.Namespaced, scope)
			} else {
				var unknown *deploy.KindUnknownError
				require.ErrorAs(t, err, &unknown, version)
			}
		}
	})
	t.Run("deploy 4: by all of its names, in the best version", func(t *testing.T) {
		for _, name := range []string{"Shelf", "shelves", "shelf", "sh"} {
			kinds, err := requests(cluster).Kinds(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, []schema.GroupVersionKind{shelfKind}, kinds, name)
		}
	})
	t.Run("its status says so, by the API server's hand", func(t *testing.T) {
		obj := get(t, cluster, deploy.RefOf(definition))
		assert.Equal(t, map[string]string{"Established": "True", "NamesAccepted": "True"}, conditions(obj))
		accepted, _, _ := unstructured.NestedString(obj.Object, "status", "acceptedNames", "kind")
		assert.Equal(t, "Shelf", accepted)
		stored, _, _ := unstructured.NestedStringSlice(obj.Object, "status", "storedVersions")
		assert.Equal(t, []string{"v1"}, stored)
		assert.Contains(t, owned(obj, "kube-apiserver", "Update", "status"), "f:conditions")
		assert.NotContains(t, owned(obj, "operkit", "Apply", ""), "f:status")
		assert.Equal(t, obj, apply(t, cluster, "operkit", object(t, shelves)), "deploy W18: the same again changes nothing")
	})
	t.Run("a changed schema holds from then on", func(t *testing.T) {
		_, err := cluster.Port().Apply(t.Context(), shelf(t, "{color: green}"), deploy.ApplyOptions{FieldManager: "m"})
		require.Error(t, err)
		changed := object(t, shelves)
		versions, _, _ := unstructured.NestedSlice(changed.Object, "spec", "versions")
		require.NoError(t, unstructured.SetNestedSlice(versions[0].(map[string]any), []any{"green"}, "schema", "openAPIV3Schema", "properties", "spec", "properties", "color", "enum"))
		require.NoError(t, unstructured.SetNestedSlice(changed.Object, versions, "spec", "versions"))
		apply(t, cluster, "operkit", changed)
		apply(t, cluster, "operkit", shelf(t, "{color: green}"))
	})
	t.Run("deploy W24: with it go its objects and its kinds", func(t *testing.T) {
		require.NoError(t, cluster.Port().Delete(t.Context(), deploy.RefOf(definition), deploy.DeleteOptions{}))
		_, err := cluster.Port().Get(t.Context(), shelfRef)
		var unknown *deploy.KindUnknownError
		require.ErrorAs(t, err, &unknown)
		for _, obj := range cluster.Objects() {
			assert.NotEqual(t, "Shelf", obj.GetKind())
		}
	})
}

func conditions(obj *unstructured.Unstructured) map[string]string {
	list, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	found := map[string]string{}
	for _, item := range list {
		condition := item.(map[string]any)
		found[condition["type"].(string)] = condition["status"].(string)
	}
	return found
}

func TestCustomResourcesMergeByTheirSchema(t *testing.T) {
	t.Parallel()
	t.Run("lists as they are declared", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		apply(t, cluster, "one", shelf(t, "{color: red, boards: [{name: a, layer: 1}], tags: [x]}"))
		obj := apply(t, cluster, "two", shelf(t, "{color: red, boards: [{name: b}], tags: [z]}"))
		spec := obj.Object["spec"].(map[string]any)
		assert.Equal(t, []any{
			map[string]any{"name": "a", "layer": int64(1), "wood": "oak"}, map[string]any{"name": "b", "wood": "oak"},
		}, spec["boards"])
		assert.Equal(t, []any{"x", "z"}, spec["tags"])
		assert.Equal(t, `{"f:spec":{"f:boards":{"k:{\"name\":\"b\"}":{".":{},"f:name":{}}},"f:color":{},"f:tags":{"v:\"z\"":{}}}}`,
			owned(obj, "two", "Apply", ""), "a default belongs to nobody who didn't write it")
		_, err := cluster.Port().Apply(t.Context(), shelf(t, "{color: red, boards: [{name: a, layer: 2}]}"), deploy.ApplyOptions{FieldManager: "two"})
		var conflict *deploy.ConflictError
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, `.spec.boards[name="a"].layer`, conflict.Fields[0].Field)
	})
	t.Run("a list of which nothing is said is atomic", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		apply(t, cluster, "one", shelf(t, "{color: red, steps: [x]}"))
		_, err := cluster.Port().Apply(t.Context(), shelf(t, "{color: red, steps: [z]}"), deploy.ApplyOptions{FieldManager: "two"})
		var conflict *deploy.ConflictError
		require.ErrorAs(t, err, &conflict)
		assert.Equal(t, ".spec.steps", conflict.Fields[0].Field)
	})
	t.Run("defaults come by every way of writing, and settle", func(t *testing.T) {
		t.Parallel()
		for name, write := range map[string]func(*dryrun.Cluster) *unstructured.Unstructured{
			"apply": func(c *dryrun.Cluster) *unstructured.Unstructured { return apply(t, c, "m", shelf(t, "{color: red}")) },
			"create": func(c *dryrun.Cluster) *unstructured.Unstructured {
				obj, err := requests(c).Create(t.Context(), shelf(t, "{color: red, size: null}"), deploy.CreateOptions{FieldManager: "m"})
				require.NoError(t, err)
				return obj
			},
			"patch": func(c *dryrun.Cluster) *unstructured.Unstructured {
				apply(t, c, "m", shelf(t, "{color: red, size: 7}"))
				return merge(t, c, shelfRef, "other", `{"spec":{"size":null}}`)
			},
		} {
			cluster := declaring(t)
			obj := write(cluster)
			assert.Equal(t, map[string]any{"color": "red", "size": int64(3)}, obj.Object["spec"], name)
			assert.Equal(t, obj, merge(t, cluster, shelfRef, "other", `{}`), name)
		}
	})
	t.Run("the status is a subresource where it is declared as one", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		before := apply(t, cluster, "m", shelf(t, "{color: red}"))
		obj, err := cluster.Port().Patch(t.Context(), shelfRef, statusPatch(`{"status":{"full":true}}`))
		require.NoError(t, err)
		assert.Equal(t, map[string]any{"full": true}, obj.Object["status"])
		assert.Equal(t, before.GetGeneration(), obj.GetGeneration())
		older := shelfRef
		older.Kind.Version = "v1beta1"
		_, err = cluster.Port().Patch(t.Context(), older, statusPatch(`{"status":{"full":true}}`))
		var absent *deploy.NotFoundError
		require.ErrorAs(t, err, &absent)
	})
	t.Run("versions are one object, and each has its own fields", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		first := apply(t, cluster, "m", shelf(t, "{color: red, size: 5}"))
		older := object(t, "{apiVersion: shop.example.com/v1beta1, kind: Shelf, metadata: {name: s, namespace: shop}, spec: {color: blue}}")
		second := force(t, cluster, "other", older)
		assert.Equal(t, first.GetUID(), second.GetUID())
		latest := get(t, cluster, shelfRef)
		assert.Equal(t, "blue", latest.Object["spec"].(map[string]any)["color"])
	})
	t.Run("deploy W22: lists can be selected by declared fields alone", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		apply(t, cluster, "m", shelf(t, "{color: red, steps: [x]}"))
		for selector, want := range map[string]int{"spec.color=red": 1, "spec.color=blue": 0, "metadata.name=s": 1, "spec.steps=x": -1} {
			byField, err := fields.ParseSelector(selector)
			require.NoError(t, err)
			objects, err := requests(cluster).List(t.Context(), shelfKind, "", deploy.ListOptions{Fields: byField})
			if want < 0 {
				var invalid *deploy.InvalidError
				require.ErrorAs(t, err, &invalid)
				assert.ErrorContains(t, err, "field label not supported: spec.steps")
				continue
			}
			require.NoError(t, err)
			assert.Len(t, objects, want, selector)
		}
	})
}

func TestCustomResourcesAreValidated(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		spec  string
		field string
		says  string
	}{
		"an unknown field":              {"{color: red, colour: red}", "spec.colour", "unknown field"},
		"an unknown field in a list":    {"{color: red, boards: [{name: a, high: 1}]}", "spec.boards[0].high", "unknown field"},
		"a required field is missing":   {"{size: 1}", "spec.color", "is required"},
		"a value that isn't allowed":    {"{color: green}", "spec.color", "should be one of [red blue]"},
		"a number that is too small":    {"{color: red, size: 0}", "spec.size", "greater than or equal to 1"},
		"text where a number has to be": {"{color: red, size: big}", "spec.size", "expected numeric"},
		"half a board":                  {"{color: red, size: 1.5}", "spec.size", "must be of type integer"},
		"two of a set":                  {"{color: red, tags: [x, x]}", "spec.tags", "duplicate entries"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := declaring(t)
			_, err := cluster.Port().Apply(t.Context(), shelf(t, test.spec), deploy.ApplyOptions{FieldManager: "m"})
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Causes)
			assert.Equal(t, test.field, invalid.Causes[0].Field)
			assert.Contains(t, invalid.Causes[0].Message, test.says)
			assert.Nil(t, get(t, cluster, shelfRef))
		})
	}
	t.Run("what is declared is accepted", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		obj := apply(t, cluster, "m", shelf(t, "{color: red, port: http, labels: {a: b}, anything: {a: {b: [1]}}, "+
			"template: {apiVersion: v1, kind: X, metadata: {name: x, labels: {a: b}}, spec: {a: b}}}"))
		assert.Equal(t, map[string]any{"a": map[string]any{"b": []any{int64(1)}}}, obj.Object["spec"].(map[string]any)["anything"])
		apply(t, cluster, "m", shelf(t, "{color: red, port: 80}"))
	})
	t.Run("a patch leaves out what isn't known", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		before := apply(t, cluster, "m", shelf(t, "{color: red}"))
		assert.Equal(t, before, merge(t, cluster, shelfRef, "m", `{"spec":{"colour":"blue"}}`))
	})
}

func TestBadDefinitions(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		path  []string
		value any
		field string
		says  string
	}{
		"no group":             {[]string{"spec", "group"}, nil, "spec.group", "is missing"},
		"another name":         {[]string{"spec", "names", "plural"}, "boards", "metadata.name", "which is boards.shop.example.com"},
		"no kind":              {[]string{"spec", "names", "kind"}, nil, "spec.names.kind", "is missing"},
		"a scope that is none": {[]string{"spec", "scope"}, "World", "spec.scope", "must be Cluster or Namespaced"},
		"no versions":          {[]string{"spec", "versions"}, []any{}, "spec.versions", "exactly one version"},
		"no schema":            {[]string{"spec", "versions"}, []any{map[string]any{"name": "v1", "served": true, "storage": true}}, "spec.versions[0].schema.openAPIV3Schema", "required"},
		"a version twice": {[]string{"spec", "versions"}, []any{
			map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}},
			map[string]any{"name": "v1", "served": true, "storage": false, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}},
		}, "spec.versions[1].name", "is also the name of an earlier version"},
		"a type that is none": {[]string{"spec", "versions"}, []any{
			map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "thing"}}},
		}, "spec.versions[0].schema.openAPIV3Schema", "unrecognized type"},
		"a list type that is none": {[]string{"spec", "versions"}, []any{
			map[string]any{"name": "v1", "served": true, "storage": true, "schema": map[string]any{"openAPIV3Schema": map[string]any{
				"type": "object", "properties": map[string]any{"l": map[string]any{"type": "array", "x-kubernetes-list-type": "heap", "items": map[string]any{"type": "string"}}},
			}}},
		}, "spec.versions[0].schema.openAPIV3Schema", "heap"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster, err := dryrun.New()
			require.NoError(t, err)
			before := cluster.Objects()
			definition := object(t, shelves)
			if test.value == nil {
				unstructured.RemoveNestedField(definition.Object, test.path...)
			} else {
				require.NoError(t, unstructured.SetNestedField(definition.Object, test.value, test.path...))
			}
			_, err = cluster.Port().Apply(t.Context(), definition, deploy.ApplyOptions{FieldManager: "m"})
			var invalid *deploy.InvalidError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Causes)
			assert.Equal(t, test.field, invalid.Causes[len(invalid.Causes)-1].Field)
			assert.Contains(t, invalid.Causes[len(invalid.Causes)-1].Message, test.says)
			assert.Equal(t, before, cluster.Objects())
		})
	}
	t.Run("a kind that is declared already isn't served twice", func(t *testing.T) {
		t.Parallel()
		cluster := declaring(t)
		other := object(t, shelves)
		other.SetName("racks.shop.example.com")
		require.NoError(t, unstructured.SetNestedField(other.Object, "racks", "spec", "names", "plural"))
		apply(t, cluster, "m", other)
		assert.Equal(t, map[string]string{"Established": "False", "NamesAccepted": "False"}, conditions(get(t, cluster, deploy.RefOf(other))))
		require.NoError(t, cluster.Port().Delete(t.Context(), deploy.RefOf(other), deploy.DeleteOptions{}))
		_, err := cluster.Port().Scope(t.Context(), shelfKind)
		require.NoError(t, err, "the first one isn't touched")
	})
}
