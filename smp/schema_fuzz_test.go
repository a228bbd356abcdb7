package smp

import (
	"encoding/json"
	"strings"
	"testing"
)

// Whatever a definition says, it is read or refused, and what is read can be described.
func FuzzSchemaFromCRD(f *testing.F) {
	f.Add(string(testdata(f, "shop-crd.json")), "v1")
	f.Add(`{"spec":{"versions":[{"name":"v1","schema":{"openAPIV3Schema":{"properties":{"a":{"type":["array","null"],"x-kubernetes-list-type":"map"}}}}}]}}`, "v1")
	f.Add(`{"spec":{"versions":[{"name":"","schema":{"openAPIV3Schema":{"additionalProperties":{"allOf":[{"items":{}}]},"oneOf":[{"type":"string"}]}}}]}}`, "")
	f.Add(`null`, "v1")
	f.Fuzz(func(t *testing.T, text, version string) {
		var crd map[string]any
		if json.Unmarshal([]byte(text), &crd) != nil {
			return
		}
		schema, err := SchemaFromCRD(crd, version)
		checkSchema(t, schema, err)
		if field, found := schema.Lookup("metadata", "finalizers"); err == nil && (!found || field.Strategy != "merge") {
			t.Errorf("metadata of %s merges otherwise: %s", schema, field)
		}
	})
}

func FuzzSchemaFromOpenAPI(f *testing.F) {
	// Small on purpose: a fuzzer spends its time on making large seeds smaller.
	f.Add([]byte(`{"components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"group":"g","version":"v1","kind":"A"}],"type":"object","properties":{`+
		`"l":{"type":"array","items":{"allOf":[{"$ref":"#/components/schemas/B"}]},"x-kubernetes-patch-strategy":"merge","x-kubernetes-patch-merge-key":"k"},`+
		`"m":{"additionalProperties":{"x-kubernetes-int-or-string":true},"x-kubernetes-map-type":"atomic"}}},`+
		`"B":{"properties":{"k":{"type":"string","default":""}},"x-kubernetes-preserve-unknown-fields":true}}}}`), "g/v1 A")
	f.Add([]byte(`{"components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"kind":"A"}],"allOf":[{"$ref":"#/components/schemas/A"}]}}}}`), " A")
	f.Add([]byte(`{"components":{"schemas":{"A":{"x-kubernetes-group-version-kind":[{"kind":"A"}],"properties":{"a":{"$ref":"#/components/schemas/B"}}},`+
		`"B":{"type":"array","items":{"$ref":"#/components/schemas/B"},"x-kubernetes-list-type":"set"}}}}`), " A")
	f.Fuzz(func(t *testing.T, text []byte, kind string) {
		schema, err := SchemaFromOpenAPI(text, gvkOf(kind))
		checkSchema(t, schema, err)
	})
}

// checkSchema fails for a schema that isn't whole: with an error and something known, or with
// neither, or with a field that can't be looked up.
func checkSchema(t *testing.T, schema Schema, err error) {
	t.Helper()
	if (err == nil) != schema.Known() {
		t.Fatalf("known %t with error %v", schema.Known(), err)
	}
	if err != nil && KindOf(err) == "" {
		t.Fatalf("an error of another type: %T", err)
	}
	if err != nil {
		return
	}
	root, found := schema.Lookup()
	if !found || root.Type != "any" && !strings.HasPrefix(schema.Describe(), "type "+root.Type) {
		t.Fatalf("%s isn't the first type of %q", root.Type, schema.Describe())
	}
	for name := range schema.place.Type.Fields {
		if field, found := schema.Lookup(name); !found || field.Type == "" {
			t.Errorf("%s.%s: %s", schema, name, field)
		}
	}
}
