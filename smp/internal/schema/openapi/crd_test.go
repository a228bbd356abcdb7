package openapi_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/builtin"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

var route = kschema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Route"}

// routeFields is what the definition of Route says.
const routeFields = `type com.example.shop.v1.Route
  apiVersion scalar
  kind scalar
  metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
  spec com.example.shop.v1.Route.spec

type com.example.shop.v1.Route.spec
  free any
  hosts []scalar merge
  labels map[string]scalar
  mixed com.example.shop.v1.Route.spec.mixed
  plain []scalar
  ports []com.example.shop.v1.Route.spec.ports merge port,protocol="TCP"
  rules []com.example.shop.v1.Route.spec.rules
  selector map[string]scalar replace
  settings any
  template com.example.shop.v1.Route.spec.template

type com.example.shop.v1.Route.spec.mixed open
  known scalar

type com.example.shop.v1.Route.spec.ports
  port scalar
  protocol scalar
  target scalar

type com.example.shop.v1.Route.spec.rules
  path scalar

type com.example.shop.v1.Route.spec.template open
  apiVersion scalar
  kind scalar
  metadata io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta

type io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry
  apiVersion scalar
  fieldsType scalar
  fieldsV1 any
  manager scalar
  operation scalar
  subresource scalar
  time scalar

type io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta
  annotations map[string]scalar
  creationTimestamp scalar
  deletionGracePeriodSeconds scalar
  deletionTimestamp scalar
  finalizers []scalar merge
  generateName scalar
  generation scalar
  labels map[string]scalar
  managedFields []io.k8s.apimachinery.pkg.apis.meta.v1.ManagedFieldsEntry
  name scalar
  namespace scalar
  ownerReferences []io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference merge uid
  resourceVersion scalar
  selfLink scalar
  uid scalar

type io.k8s.apimachinery.pkg.apis.meta.v1.OwnerReference
  apiVersion scalar
  blockOwnerDeletion scalar
  controller scalar
  kind scalar
  name scalar
  uid scalar
`

func TestCustomResource(t *testing.T) {
	t.Parallel()
	t.Run("smp 28: from its definition", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("testdata/shop-crd.json")
		require.NoError(t, err)
		var crd, again map[string]any
		require.NoError(t, json.Unmarshal(text, &crd))
		require.NoError(t, json.Unmarshal(text, &again))

		root, gvk, err := openapi.FromCRD(crd, "v1")

		require.NoError(t, err)
		assert.Equal(t, route, gvk)
		assert.Equal(t, routeFields, schema.Text(root))
		assert.Same(t, builtin.ObjectMeta(), root.Fields["metadata"].Type)
		assert.Equal(t, again, crd, "the definition stays as it was")
	})
	t.Run("smp 28: from what an API server serves of it", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("testdata/shop-v1.json")
		require.NoError(t, err)
		root, err := openapi.FromDocument(text, route)
		require.NoError(t, err)
		assert.Equal(t, routeFields, schema.Text(root))
	})
}

// object is a JSON object in short.
type object = map[string]any

// crdOf is a definition whose version v1 has a schema.
func crdOf(openAPIV3Schema any) object {
	return object{"spec": object{
		"group": "shop.example.com", "names": object{"kind": "Route"},
		"versions": []any{
			object{"name": "v1", "schema": object{"openAPIV3Schema": openAPIV3Schema}},
			object{"name": "v2beta1"},
		},
	}}
}

// crdWith is a definition with a field f.
func crdWith(field any) object {
	return crdOf(object{"type": "object", "properties": object{"f": field}})
}

func TestFieldsOfADefinition(t *testing.T) {
	t.Parallel()
	scalars := object{"type": "string"}
	for name, row := range map[string]struct {
		field object
		want  string
	}{
		"smp 28: a list is atomic unless it says otherwise": {object{"type": "array", "items": scalars}, "[]scalar"},
		"a list that says so is atomic too":                 {object{"type": "array", "x-kubernetes-list-type": "atomic", "items": scalars}, "[]scalar"},
		"smp 28: a set of scalars":                          {object{"type": "array", "x-kubernetes-list-type": "set", "items": scalars}, "[]scalar merge"},
		"a set of numbers or strings":                       {object{"type": "array", "x-kubernetes-list-type": "set", "items": object{"x-kubernetes-int-or-string": true}}, "[]scalar merge"},
		"a set of objects can only be replaced":             {object{"type": "array", "x-kubernetes-list-type": "set", "items": object{"type": "object"}}, "[]object"},
		"a set of anything can only be replaced":            {object{"type": "array", "x-kubernetes-list-type": "set", "items": object{}}, "[]any"},
		"a set of nothing can only be replaced":             {object{"type": "array", "x-kubernetes-list-type": "set"}, "[]any"},
		"smp 28: keys with defaults of several types": {object{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"a", "b", "c", "d"},
			"items": object{"type": "object", "properties": object{
				"a": object{"type": "string"}, "b": object{"type": "integer", "default": float64(80)},
				"c": object{"type": "boolean", "default": false}, "d": object{"type": "number", "default": json.Number("1.5")},
			}}}, `[]object merge a,b=80,c=false,d=1.5`},
		"keys that the elements don't describe": {object{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"a"},
			"items": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}, "[]any merge a"},
		"keys without the type of the list": {object{"type": "array", "x-kubernetes-list-map-keys": []any{"a"},
			"items": object{"type": "object"}}, "[]object merge a"},
		"patch extensions come first": {object{"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"a", "b"},
			"x-kubernetes-patch-strategy": "merge,retainKeys", "x-kubernetes-patch-merge-key": "a", "items": object{"type": "object"}}, "[]object merge,retainKeys a"},
		"a merge key without a strategy merges nothing": {object{"type": "array", "x-kubernetes-list-type": "set",
			"x-kubernetes-patch-merge-key": "a", "items": scalars}, "[]scalar"},
		"a strategy of scalars needs no key": {object{"type": "array", "x-kubernetes-patch-strategy": "merge", "items": scalars}, "[]scalar merge"},
		"a list in a list":                   {object{"type": "array", "items": object{"type": "array", "x-kubernetes-list-type": "set", "items": scalars}}, "[]([]scalar merge)"},
		"a map of lists":                     {object{"type": "object", "additionalProperties": object{"type": "array", "x-kubernetes-list-type": "set", "items": scalars}}, "map[string]([]scalar merge)"},
		"an atomic map":                      {object{"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": scalars}, "map[string]scalar replace"},
		"an atomic object":                   {object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{"a": scalars}}, "object replace"},
		"a granular map":                     {object{"type": "object", "x-kubernetes-map-type": "granular", "additionalProperties": scalars}, "map[string]scalar"},
		"an atomic anything":                 {object{"x-kubernetes-map-type": "atomic", "x-kubernetes-preserve-unknown-fields": true}, "any replace"},
		"a map of anything":                  {object{"type": "object", "additionalProperties": true}, "map[string]any"},
		"no free keys":                       {object{"type": "object", "additionalProperties": false}, "object"},
		"fields and free keys":               {object{"type": "object", "properties": object{"a": scalars}, "additionalProperties": scalars}, "object"},
		"an object of no fields":             {object{"type": "object"}, "object"},
		"an object of any fields":            {object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}, "any"},
		"fields without a type":              {object{"properties": object{"a": scalars}}, "object"},
		"items without a type":               {object{"items": scalars}, "[]scalar"},
		"a number or a string":               {object{"x-kubernetes-int-or-string": true, "anyOf": []any{object{"type": "integer"}, object{"type": "string"}}}, "scalar"},
		"one of several scalars":             {object{"oneOf": []any{object{"type": "integer"}, object{"type": "string"}}}, "scalar"},
		"one of several things":              {object{"oneOf": []any{object{"type": "integer"}, object{"type": "object"}}}, "any"},
		"a type or null":                     {object{"type": []any{"string", "null"}}, "scalar"},
		"a string or a number":               {object{"type": []any{"string", "number"}}, "scalar"},
		"a string or a list":                 {object{"type": []any{"string", "array"}}, "any"},
		"nothing said":                       {object{}, "any"},
		"what allOf validates":               {object{"type": "object", "x-kubernetes-preserve-unknown-fields": true, "allOf": []any{object{"required": []any{"a"}}}}, "any"},
		"what allOf validates only":          {object{"x-kubernetes-preserve-unknown-fields": true, "allOf": []any{object{"properties": object{"a": object{}}}}}, "any"},
		"null is the same as absent":         {object{"type": "object", "properties": nil, "x-kubernetes-map-type": nil}, "object"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _, err := openapi.FromCRD(crdWith(row.field), "v1")
			require.NoError(t, err)
			whole := schema.Text(&schema.Type{Name: "root", Shape: schema.Object, Fields: map[string]schema.Place{"f": unnamed(root.Fields["f"])}})
			assert.Equal(t, "  f "+row.want+"\n", firstField(whole))
		})
	}
}
