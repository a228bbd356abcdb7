package dryrun

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// fillIn sets the defaults of a schema. The default of a property is set if the property is missing; the object that
// has the property must exist, or have a default of its own. A null that isn't nullable becomes the default, in lists
// and in maps with arbitrary names, too.
func fillIn(value any, s *spec.Schema) {
	switch value := value.(type) {
	case map[string]any:
		fillInFields(value, s)
	case []any:
		items := itemsOf(s)
		if items == nil {
			return
		}
		for i := range value {
			if wrongNull(value[i], items) {
				value[i] = runtime.DeepCopyJSONValue(items.Default)
			}
			fillIn(value[i], items)
		}
	}
}

func fillInFields(content map[string]any, s *spec.Schema) {
	for name := range s.Properties {
		property := s.Properties[name]
		present, ok := content[name]
		if property.Default != nil && (!ok || wrongNull(present, &property)) {
			content[name] = runtime.DeepCopyJSONValue(property.Default)
		}
	}
	for name, item := range content {
		if isScalar(item) {
			continue
		}
		below, _ := fieldOf(s, name)
		if below == nil {
			continue
		}
		if _, declared := s.Properties[name]; !declared && wrongNull(item, below) {
			content[name] = runtime.DeepCopyJSONValue(below.Default)
		}
		fillIn(content[name], below)
	}
}

// dropNulls removes fields that are null, if they aren't nullable and have no default. Items of lists stay.
func dropNulls(value any, s *spec.Schema) {
	switch value := value.(type) {
	case map[string]any:
		for name, item := range value {
			if isScalar(item) {
				continue
			}
			switch below, _ := fieldOf(s, name); {
			case wrongNull(item, below) && below.Default == nil:
				delete(value, name)
			case below != nil:
				dropNulls(item, below)
			}
		}
	case []any:
		if items := itemsOf(s); items != nil {
			for _, item := range value {
				dropNulls(item, items)
			}
		}
	}
}

// isScalar reports whether value is neither null nor has other values.
func isScalar(value any) bool {
	switch value.(type) {
	case nil, map[string]any, []any:
		return false
	}
	return true
}

// wrongNull reports whether value is null although its schema doesn't allow that.
func wrongNull(value any, s *spec.Schema) bool { return value == nil && s != nil && !s.Nullable }
