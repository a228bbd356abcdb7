package edit

import (
	"maps"
	"slices"
	"strings"
)

// fieldsBelow returns the paths of the fields of a value that have no fields themselves.
func fieldsBelow(schema map[string]any, path string) (paths []string) {
	switch shapeOf(schema) {
	case objectField:
		for _, name := range slices.Sorted(maps.Keys(propertiesOf(schema))) {
			paths = append(paths, fieldsBelow(propertyOf(schema, name), path+"."+name)...)
		}
	case listField:
		paths = fieldsBelow(itemsOf(schema), path+"[]")
	case mapField:
		paths = fieldsBelow(entriesOf(schema), path+"{}")
	}
	if len(paths) == 0 {
		return []string{strings.TrimRight(path, "[]{}")}
	}
	return paths
}

// touched returns the fields that a value has, as Fields has them.
func touched(schema map[string]any, path string, value any) (paths []string) {
	items, _ := value.([]any)
	fields, isMap := value.(map[string]any)
	shape := shapeOf(schema)
	switch {
	case shape == objectField && isMap && schema["properties"] != nil:
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			paths = append(paths, touched(propertyOf(schema, name), path+"."+name, fields[name])...)
		}
	case shape == listField && len(items) > 0:
		for _, item := range items {
			paths = append(paths, touched(itemsOf(schema), path+"[]", item)...)
		}
	case shape == mapField && len(fields) > 0:
		for _, entry := range fields {
			paths = append(paths, touched(entriesOf(schema), path+"{}", entry)...)
		}
	default:
		if paths = fieldsBelow(schema, path); len(paths) > 1 {
			return nil // nothing is in the value
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}
