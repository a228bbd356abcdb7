package dryrun

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

// leaveOutEmpty takes the empty lists and maps out of an object of Kubernetes, and what is null: its
// types don't keep them apart from what isn't there. An empty struct stays.
func leaveOutEmpty(obj *unstructured.Unstructured, d *declaration) {
	if !anyEmpty(obj.Object, "metadata") && !anyEmpty(metadataOf(obj), "managedFields") {
		return
	}
	object, err := d.object()
	if err != nil {
		return
	}
	keepingManagers(obj, func() { leaveOutOf(obj.Object, object.TypeRef, object.Schema) })
}

// anyEmpty is a quick look whether there is anything to leave out of the fields but one. Of managedFields
// nothing is, and they are full of empty maps.
func anyEmpty(content map[string]any, but string) bool {
	for name, value := range content {
		if name != but && holdsEmpty(value) {
			return true
		}
	}
	return false
}

func holdsEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case map[string]any:
		for _, item := range value {
			if holdsEmpty(item) {
				return true
			}
		}
		return len(value) == 0
	case []any:
		for _, item := range value {
			if holdsEmpty(item) {
				return true
			}
		}
		return len(value) == 0
	}
	return false
}

func leaveOutOf(value any, ref smd.TypeRef, types *smd.Schema) {
	atom, ok := types.Resolve(ref)
	if !ok {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		if atom.Map == nil {
			return
		}
		for name, item := range value {
			field, isField := atom.Map.FindField(name)
			switch {
			case !isField:
				leaveOutOf(item, atom.Map.ElementType, types)
			case leftOut(item, field.Type, types):
				delete(value, name)
			default:
				leaveOutOf(item, field.Type, types)
			}
		}
	case []any:
		if atom.List != nil {
			for _, item := range value {
				leaveOutOf(item, atom.List.ElementType, types)
			}
		}
	}
}

// leftOut tells whether a field with such a value isn't stored. What is untyped is kept as it is.
func leftOut(value any, ref smd.TypeRef, types *smd.Schema) bool {
	atom, ok := types.Resolve(ref)
	if !ok || isUntyped(atom) {
		return false
	}
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return atom.List != nil && len(value) == 0
	case map[string]any:
		if atom.Map == nil || len(atom.Map.Fields) > 0 || len(value) > 0 {
			return false
		}
		element, ok := types.Resolve(atom.Map.ElementType)
		return ok && element != (smd.Atom{}) && !isUntyped(element)
	}
	return false
}

func isUntyped(atom smd.Atom) bool { return atom.Scalar != nil && *atom.Scalar == smd.Untyped }
