package edit

import "k8s.io/apimachinery/pkg/runtime"

// further returns an item that a list can have beside its items: one like the last item with another key, so that it
// is as realistic as that one.
func further(schema map[string]any, items []any) (item any, can bool) {
	schemaOfItems := itemsOf(schema)
	if ruled(schemaOfItems) {
		return nil, false
	}
	var last any
	if len(items) > 0 {
		last = items[len(items)-1]
	}
	if shapeOf(schemaOfItems) == scalarField {
		return another(schemaOfItems, last, items...)
	}
	fields, is := last.(map[string]any)
	if !is {
		item, can = fresh(schemaOfItems)
		return item, can && !containsEqual(items, item)
	}
	fields = runtime.DeepCopyJSON(fields)
	changed := false
	for _, key := range identifying(schema) {
		if value, can := another(propertyOf(schemaOfItems, key), fields[key], column(items, key)...); can {
			fields[key], changed = value, true
		}
	}
	return fields, changed
}

// identifying returns the fields by which the items of a list differ: its keys, or else the name, or else what is
// required.
func identifying(schema map[string]any) []string {
	if keys := stringsOf(schema[listMapKeys]); len(keys) > 0 {
		return keys
	}
	if propertyOf(itemsOf(schema), "name") != nil {
		return []string{"name"}
	}
	return stringsOf(itemsOf(schema)["required"])
}

// column returns the values that items have of a field.
func column(items []any, key string) (values []any) {
	for _, item := range items {
		if fields, is := item.(map[string]any); is {
			if isScalar(fields[key]) {
				values = append(values, fields[key])
			}
		}
	}
	return values
}

func isScalar(value any) bool {
	switch value.(type) {
	case string, bool, int64, float64:
		return true
	}
	return false
}
