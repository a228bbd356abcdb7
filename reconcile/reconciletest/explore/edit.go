package explore

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// edit is a change of one field of a resource.
type edit struct {
	name string
	do   func(obj *unstructured.Unstructured)
}

// deepest is how deep fields below spec are edited.
const deepest = 4

// edits returns changes of the spec, each of one field, that the schema of the resource's version allows. They are in
// the order of the fields' paths.
func edits(sample *unstructured.Unstructured, definitions []*unstructured.Unstructured) (all []edit) {
	schema := schemaOf(sample, definitions)
	spec, found, _ := unstructured.NestedMap(schema, "properties", "spec")
	if !found {
		return nil
	}
	return below(sample, spec, []string{"spec"})
}

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

// below returns the edits of the fields below a path.
func below(sample *unstructured.Unstructured, schema map[string]any, path []string) (all []edit) {
	properties, _ := schema["properties"].(map[string]any)
	if len(path) > deepest || frozen(schema) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		field, _ := properties[name].(map[string]any)
		at := append(slices.Clone(path), name)
		if frozen(field) {
			continue
		}
		if field["type"] == "object" && field["properties"] != nil {
			all = append(all, below(sample, field, at)...)
			continue
		}
		present, exists, _ := unstructured.NestedFieldCopy(sample.Object, at...)
		if next, can := another(field, present); can {
			all = append(all, setting(at, next))
		}
		if exists && !slices.Contains(required(schema), name) {
			all = append(all, edit{strings.Join(at, ".") + " left out", func(obj *unstructured.Unstructured) {
				unstructured.RemoveNestedField(obj.Object, at...)
			}})
		}
	}
	return all
}

func setting(path []string, value any) edit {
	text := fmt.Sprint(value)
	if _, is := value.(string); is {
		text = fmt.Sprintf("%.40q", value)
	}
	return edit{strings.Join(path, ".") + ": " + text, func(obj *unstructured.Unstructured) {
		// It fails only if the sample isn't as its schema says, which the cluster refuses.
		_ = unstructured.SetNestedField(obj.Object, value, path...)
	}}
}

// frozen reports whether rules of a schema restrict changes.
func frozen(schema map[string]any) bool {
	rules, _ := schema["x-kubernetes-validations"].([]any)
	return slices.ContainsFunc(rules, func(one any) bool {
		rule, _ := one.(map[string]any)
		text, _ := rule["rule"].(string)
		return strings.Contains(text, "oldSelf")
	})
}

func required(schema map[string]any) (names []string) {
	list, _ := schema["required"].([]any)
	for _, one := range list {
		if name, is := one.(string); is {
			names = append(names, name)
		}
	}
	return names
}

// another returns another valid value of a field than the present one, nil if it has none.
func another(schema map[string]any, present any) (value any, can bool) {
	if list, is := schema["enum"].([]any); is {
		for _, one := range list {
			if one != present {
				return one, true
			}
		}
		return nil, false
	}
	switch schema["type"] {
	case "boolean":
		return present != true, true
	case "integer":
		return anotherNumber(schema, present)
	case "string":
		if schema["pattern"] != nil || schema["format"] != nil {
			return nil, false
		}
		text, _ := present.(string)
		if longest, is := numberOf(schema["maxLength"]); is && int64(len(text)) >= longest {
			return nil, false
		}
		return text + "x", true
	}
	return nil, false
}

// anotherNumber returns the number behind the present one, or before it.
func anotherNumber(schema map[string]any, present any) (value any, can bool) {
	least, hasLeast := numberOf(schema["minimum"])
	highest, hasHighest := numberOf(schema["maximum"])
	number, exists := numberOf(present)
	if !exists {
		number = least
	}
	if next := number + 1; !hasHighest || next <= highest {
		return next, true
	}
	if next := number - 1; !hasLeast || next >= least {
		return next, true
	}
	return nil, false
}

func numberOf(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case float64:
		return int64(value), true
	}
	return 0, false
}
