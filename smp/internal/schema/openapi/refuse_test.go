package openapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

const inField = "/spec/versions/0/schema/openAPIV3Schema/properties/f"

func TestDefinitionsThatCantBeRead(t *testing.T) {
	t.Parallel()
	list := func(fields object) object {
		fields["type"] = "array"
		return crdWith(fields)
	}
	cyclic := object{"type": "object"}
	cyclic["properties"] = object{"a": cyclic, "b": cyclic}
	wide := object{"type": "string"}
	for range 40 {
		wide = object{"type": "object", "properties": object{"a": wide, "b": wide}}
	}
	for name, row := range map[string]struct {
		crd    object
		reason schema.Reason
		says   string // with the path before it
	}{
		"nil":                            {nil, schema.Malformed, "it isn't a CustomResourceDefinition: there is no spec"},
		"another kind":                   {object{"spec": object{"replicas": int64(1)}}, schema.Malformed, "/spec/versions: the definition has no versions: it must be of apiextensions.k8s.io/v1"},
		"a spec that is no object":       {object{"spec": "x"}, schema.Malformed, "/spec: it is a string, not an object"},
		"versions that aren't a list":    {object{"spec": object{"versions": object{}}}, schema.Malformed, "/spec/versions: it is an object, not a list"},
		"a version that is no object":    {object{"spec": object{"versions": []any{nil}}}, schema.Malformed, "/spec/versions/0: it is null, not an object"},
		"a name that is no string":       {object{"spec": object{"versions": []any{object{"name": int64(1)}}}}, schema.Malformed, "/spec/versions/0/name: it is a number, not a string"},
		"a list of a Go type of its own": {object{"spec": object{"versions": []object{}}}, schema.Malformed, "/spec/versions: it is a Go []map[string]interface {}, not a list"},
		"no schema":                      {crdOf(nil), schema.Missing, `/spec/versions/0/schema/openAPIV3Schema: version "v1" has no schema`},
		"a schema that is no object's":   {crdOf(object{"type": "string"}), schema.Malformed, "/spec/versions/0/schema/openAPIV3Schema/type: the schema of the version doesn't describe an object"},
		"an unknown type":                {crdWith(object{"type": "map"}), schema.Malformed, inField + `/type: "map" is no type of a schema`},
		"a type that is no string":       {crdWith(object{"type": true}), schema.Malformed, inField + "/type: it is a boolean, not a string"},
		"types that are no strings":      {crdWith(object{"type": []any{1.5}}), schema.Malformed, inField + "/type/0: it is a number, not a string"},
		"a property that is null":        {crdWith(nil), schema.Malformed, inField + ": it is null, not an object"},
		"a property that is no object":   {crdWith([]any{}), schema.Malformed, inField + ": it is a list, not an object"},
		"properties that are no object":  {crdWith(object{"type": "object", "properties": []any{}}), schema.Malformed, inField + "/properties: it is a list, not an object"},
		"items that are no object":       {list(object{"items": []any{}}), schema.Malformed, inField + "/items: it is a list, not an object"},
		"a name with slashes and tildes": {crdWith(object{"properties": object{"a/b~c": "x"}}), schema.Malformed, inField + "/properties/a~1b~0c: it is a string, not an object"},
		"a flag that is no boolean":      {crdWith(object{"type": "object", "x-kubernetes-preserve-unknown-fields": "true"}), schema.Malformed, inField + "/x-kubernetes-preserve-unknown-fields: it is a string, not a boolean"},
		"an unknown type of list":        {list(object{"x-kubernetes-list-type": "Map"}), schema.Malformed, inField + `/x-kubernetes-list-type: "Map" is none of atomic, map and set`},
		"an unknown type of map":         {crdWith(object{"type": "object", "x-kubernetes-map-type": "set"}), schema.Malformed, inField + `/x-kubernetes-map-type: "set" is none of atomic and granular`},
		"a list type map without keys":   {list(object{"x-kubernetes-list-type": "map"}), schema.Malformed, inField + ": x-kubernetes-list-type map needs x-kubernetes-list-map-keys"},
		"an unknown strategy":            {list(object{"x-kubernetes-patch-strategy": "x"}), schema.Malformed, inField + `/x-kubernetes-patch-strategy: patch strategy "x"`},
		"a strategy without its key":     {list(object{"x-kubernetes-patch-strategy": "merge", "items": object{"type": "object"}}), schema.Malformed, inField + ": x-kubernetes-patch-strategy merge of a list of objects needs"},
		"a default of a key that is a list": {list(object{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"a"},
			"items": object{"type": "object", "properties": object{"a": object{"default": []any{}}}}}), schema.Malformed, inField + "/items/properties/a/default: the default of a key is a list, not a scalar"},
		"a reference, which a definition can't have": {crdWith(object{"$ref": "#/components/schemas/X"}), schema.Malformed, inField + `/$ref: reference "#/components/schemas/X"`},
		"a schema within itself":                     {crdWith(cyclic), schema.TooDeep, "nested deeper than 1000"},
		"a schema that grows by sharing":             {crdWith(wide), schema.TooDeep, "more than 250000 parts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, _, err := openapi.FromCRD(row.crd, "v1")
			checkRefusal(t, root, err, row.reason, row.says)
		})
	}
	t.Run("a version that there isn't", func(t *testing.T) {
		t.Parallel()
		root, _, err := openapi.FromCRD(crdWith(object{}), "v3")
		checkRefusal(t, root, err, schema.Missing, `/spec/versions: there is no version "v3": use one of v1, v2beta1`)
	})
}

func checkRefusal(t *testing.T, root *schema.Type, err error, reason schema.Reason, says string) {
	t.Helper()
	require.Error(t, err)
	assert.Nil(t, root)
	assert.Contains(t, err.Error(), says)
	var wrong *schema.Error
	require.ErrorAs(t, err, &wrong)
	assert.Equal(t, reason, wrong.Reason)
}

var thing = kschema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// documentOf is a document with a schema of the kind Thing and others.
func documentOf(t *testing.T, fields object, others object) []byte {
	t.Helper()
	schemas := object{"com.example.v1.Thing": object{
		"type":       "object",
		"properties": fields,
		"x-kubernetes-group-version-kind": []any{
			object{"group": "example.com", "version": "v1", "kind": "Thing"},
		},
	}}
	for name, other := range others {
		schemas[name] = other
	}
	text, err := json.Marshal(object{"openapi": "3.0.0", "components": object{"schemas": schemas}})
	require.NoError(t, err)
	return text
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }

func TestReferences(t *testing.T) {
	t.Parallel()
	names := object{"type": "object", "properties": object{"name": object{"type": "string"}, "zone": object{"type": "string", "default": "a"}}}
	for name, row := range map[string]struct {
		field  any
		others object
		want   string
	}{
		"to a schema":           {ref("N"), object{"N": names}, "N"},
		"wrapped for a default": {object{"allOf": []any{ref("N")}, "default": object{}}, object{"N": names}, "N"},
		"through another":       {ref("A"), object{"A": ref("B"), "B": object{"allOf": []any{ref("N")}}, "N": names}, "N"},
		"with escapes":          {ref("a~1b%20c"), object{"a/b c": names}, `a/b c`},
		"to a scalar":           {ref("S"), object{"S": object{"type": "string"}}, "scalar"},
		"to a list":             {ref("L"), object{"L": object{"type": "array", "items": ref("N")}, "N": names}, "[]N"},
		"to a list with a type of its own": {ref("L"), object{"N": names, "L": object{"type": "array", "items": ref("N"),
			"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name", "zone"}}}, `[]N merge name,zone="a"`},
		"to a set": {object{"type": "array", "x-kubernetes-list-type": "set", "items": object{"allOf": []any{ref("S")}}},
			object{"S": object{"type": "string"}}, "[]scalar merge"},
		"to an atomic object": {ref("N"), object{"N": object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{}}}, "N replace"},
		"smp 12: a struct of Kubernetes goes by its tags": {ref("io.k8s.api.core.v1.X"), object{"io.k8s.api.core.v1.X": object{"type": "object", "properties": object{
			"a": object{"type": "array", "items": ref("N"), "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"name"}}}}, "N": names}, "io.k8s.api.core.v1.X"},
		"to an object without fields, of which nothing is known": {ref("O"), object{"O": object{"type": "object"}}, "any"},
		"several at once":             {object{"allOf": []any{ref("N"), object{"properties": object{"x": object{}}}}}, object{"N": names}, "com.example.v1.Thing.f"},
		"several things":              {object{"allOf": []any{ref("N"), ref("S")}}, object{"N": names, "S": object{"type": "string"}}, "any"},
		"to itself":                   {ref("T"), object{"T": object{"type": "object", "properties": object{"t": ref("T")}}}, "T"},
		"to itself, and nothing else": {ref("T"), object{"T": ref("T")}, "any"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := openapi.FromDocument(documentOf(t, object{"f": row.field}, row.others), thing)
			require.NoError(t, err)
			field := root.Fields["f"]
			text := schema.Text(&schema.Type{Name: "root", Shape: schema.Object, Fields: map[string]schema.Place{"f": field}})
			assert.Equal(t, "  f "+row.want+"\n", firstField(text))
			if a, found := root.Fields["f"].Type.Fields["a"]; found {
				assert.Zero(t, a.Strategy, "the type of a list isn't a tag")
			}
			if inner, found := field.Type.Fields["t"]; found {
				assert.Same(t, field.Type, inner.Type)
			}
		})
	}
}

func TestDocumentsThatCantBeRead(t *testing.T) {
	t.Parallel()
	const at = "/components/schemas/"
	deep := object{}
	for i := range 1100 {
		deep[fmt.Sprint("T", i)] = object{"properties": object{"next": ref(fmt.Sprint("T", i+1))}}
	}
	for name, row := range map[string]struct {
		text   []byte
		reason schema.Reason
		says   string
	}{
		"nothing":                    {nil, schema.Malformed, "can't read the OpenAPI document: "},
		"no JSON":                    {[]byte("openapi: 3.0.0"), schema.Malformed, "can't read the OpenAPI document: "},
		"a list":                     {[]byte("[]"), schema.Malformed, "can't read the OpenAPI document: "},
		"brackets":                   {[]byte(strings.Repeat("[", 1<<20)), schema.Malformed, "can't read the OpenAPI document: "},
		"version 2":                  {[]byte(`{"swagger": "2.0", "definitions": {}}`), schema.Malformed, "/swagger: the OpenAPI document is of version 2.0: use version 3"},
		"no schemas":                 {[]byte(`{}`), schema.Missing, "describes no kinds"},
		"null":                       {[]byte(`null`), schema.Missing, "describes no kinds"},
		"kinds as text":              {[]byte(`{"components": {"schemas": {"X": {"x-kubernetes-group-version-kind": "Thing"}}}}`), schema.Malformed, at + "X/x-kubernetes-group-version-kind: it isn't a list of kinds"},
		"a broken reference":         {documentOf(t, object{"f": ref("Gone")}, nil), schema.Malformed, at + `com.example.v1.Thing/properties/f/$ref: reference "#/components/schemas/Gone": the document has no such schema`},
		"a foreign reference":        {documentOf(t, object{"f": object{"$ref": "other.json#/X"}}, nil), schema.Malformed, `reference "other.json#/X": only references to #/components/schemas/NAME`},
		"a broken escape":            {documentOf(t, object{"f": ref("%zz")}, nil), schema.Malformed, `reference "#/components/schemas/%zz"`},
		"a schema that is no object": {documentOf(t, object{"f": ref("X")}, object{"X": 5}), schema.Malformed, at + "X: it isn't an object"},
		"a schema that is null":      {documentOf(t, object{"f": ref("X")}, object{"X": nil}), schema.Malformed, at + "X: it isn't an object"},
		"a broken reference in the items of a list": {documentOf(t, object{"f": object{"type": "array", "x-kubernetes-list-type": "set", "items": ref("Gone")}}, nil), schema.Malformed, "/properties/f/items/$ref"},
		"a chain without an end":                    {documentOf(t, object{"f": ref("T0")}, deep), schema.TooDeep, "nested deeper than 1000"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, err := openapi.FromDocument(row.text, thing)
			checkRefusal(t, root, err, row.reason, row.says)
		})
	}
	t.Run("a kind that there isn't", func(t *testing.T) {
		t.Parallel()
		text, err := os.ReadFile("testdata/core-v1.json")
		require.NoError(t, err)
		root, err := openapi.FromDocument(text, thing)
		checkRefusal(t, root, err, schema.Missing, "the OpenAPI document doesn't describe the kind: use one of v1 Pod, v1 Service")
	})
	t.Run("a kind among many that there are", func(t *testing.T) {
		t.Parallel()
		others := object{}
		for i := range 24 {
			name := fmt.Sprintf("Other%02d", i)
			others[name] = object{"x-kubernetes-group-version-kind": []any{object{"group": "example.com", "version": "v1", "kind": name}}}
		}
		root, err := openapi.FromDocument(documentOf(t, nil, others), kschema.GroupVersionKind{Kind: "Gone"})
		checkRefusal(t, root, err, schema.Missing, "use one of example.com/v1 Other00, example.com/v1 Other01,")
		assert.Contains(t, err.Error(), "example.com/v1 Other19 and 5 more")
	})
	t.Run("a kind that isn't an object", func(t *testing.T) {
		t.Parallel()
		text := []byte(`{"components": {"schemas": {"X": {"type": "string", "x-kubernetes-group-version-kind": [{"group": "example.com", "version": "v1", "kind": "Thing"}]}}}}`)
		root, err := openapi.FromDocument(text, thing)
		checkRefusal(t, root, err, schema.Malformed, at+"X: the schema of Thing doesn't describe an object")
	})
}
