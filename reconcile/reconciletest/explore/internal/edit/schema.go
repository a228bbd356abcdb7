package edit

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Extensions of the schemas of custom resources.
const (
	preserving  = "x-kubernetes-preserve-unknown-fields"
	embedding   = "x-kubernetes-embedded-resource"
	intOrString = "x-kubernetes-int-or-string"
	listMapKeys = "x-kubernetes-list-map-keys"
	validations = "x-kubernetes-validations"
)

// schemaOf returns the schema of a resource, nil if no definition has it.
func schemaOf(sample *unstructured.Unstructured, definitions []*unstructured.Unstructured) map[string]any {
	kind := sample.GroupVersionKind()
	for _, definition := range definitions {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		name, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		if group != kind.Group || name != kind.Kind {
			continue
		}
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for _, one := range versions {
			if version, is := one.(map[string]any); is && version["name"] == kind.Version {
				schema, _, _ := unstructured.NestedMap(version, "schema", "openAPIV3Schema")
				return schema
			}
		}
	}
	return nil
}

// shape is how a field is edited.
type shape int

const (
	scalarField shape = iota
	objectField       // it has fields
	listField         // it has items
	mapField          // it has entries
	opaqueField       // it is left alone, because its schema doesn't say what is valid
)

// shapeOf returns the shape of the values of a schema.
func shapeOf(schema map[string]any) shape {
	entries, _ := schema["additionalProperties"].(map[string]any)
	switch {
	case schema[embedding] == true:
		return opaqueField
	case schema["properties"] != nil:
		return objectField
	case schema[preserving] == true:
		return opaqueField
	case schema["type"] == "array" && schema["items"] != nil:
		return listField
	case schema["type"] == "object" && entries != nil:
		return mapField
	case schema["type"] == "object" && schema["additionalProperties"] == nil:
		return objectField
	case schema[intOrString] == true, schema["type"] == "string", schema["type"] == "boolean", schema["type"] == "integer", schema["type"] == "number":
		return scalarField
	}
	return opaqueField
}

// ownFields returns the names of the fields of a resource that its author defines, such as spec.
func ownFields(schema map[string]any) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(propertiesOf(schema))), func(name string) bool {
		return slices.Contains([]string{"apiVersion", "kind", "metadata", "status"}, name)
	})
}

func propertiesOf(schema map[string]any) map[string]any {
	properties, _ := schema["properties"].(map[string]any)
	return properties
}

func propertyOf(schema map[string]any, name string) map[string]any {
	property, _ := propertiesOf(schema)[name].(map[string]any)
	return property
}

func itemsOf(schema map[string]any) map[string]any {
	items, _ := schema["items"].(map[string]any)
	return items
}

func entriesOf(schema map[string]any) map[string]any {
	entries, _ := schema["additionalProperties"].(map[string]any)
	return entries
}

// stringsOf returns a list of names that a schema has, such as the required fields.
func stringsOf(list any) (names []string) {
	items, _ := list.([]any)
	for _, one := range items {
		if name, is := one.(string); is {
			names = append(names, name)
		}
	}
	return names
}

// countOf returns a limit that a schema has for a length, or else one that is always met.
func countOf(limit any, otherwise int) int {
	if count, is := numberOf(limit); is {
		return int(min(max(count, 0), 1<<30))
	}
	return otherwise
}

func numberOf(value any) (float64, bool) {
	switch value := value.(type) {
	case int64:
		return float64(value), true
	case float64:
		return value, true
	}
	return 0, false
}
