package explore

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// tamper changes the first field, in the order of the paths, that the operator has set. One that was changed so is
// still the first.
func tamper(obj *unstructured.Unstructured) {
	owned, with := fieldsSet(obj), tampering{encoded: obj.GetKind() == "Secret"}
	for _, section := range []string{"f:spec", "f:data", "f:rules", "f:subjects"} {
		name := strings.TrimPrefix(section, "f:")
		if below, _ := owned[section].(map[string]any); below != nil && obj.Object[name] != nil && with.field(obj.Object, name, below) {
			return
		}
	}
}

// fieldsSet returns the fields that the operator has set, as in managedFields, with those that tamper has changed.
func fieldsSet(obj *unstructured.Unstructured) map[string]any {
	owned, isOwn := map[string]any{}, false
	for _, entry := range obj.GetManagedFields() {
		fields := &unstructured.Unstructured{}
		if entry.Subresource != "" || entry.FieldsV1 == nil || fields.UnmarshalJSON([]byte(`{"kind":"Fields","fields":`+entry.FieldsV1.GetRawString()+`}`)) != nil {
			continue
		}
		isOwn = isOwn || !strings.HasPrefix(entry.Manager, reconciletest.FieldManager)
		set, _, _ := unstructured.NestedMap(fields.Object, "fields")
		unite(owned, set)
	}
	if !isOwn {
		return nil
	}
	return owned
}

// unite adds fields to others.
func unite(all, more map[string]any) {
	for name, field := range more {
		into, is := all[name].(map[string]any)
		if below, also := field.(map[string]any); is && also {
			unite(into, below)
		} else {
			all[name] = field
		}
	}
}

// unpadded is base64 that can stand before other base64.
const unpadded = "eHh4"

// tampering changes one value. encoded means that texts are base64.
type tampering struct{ encoded bool }

// field changes the first value in a field, and reports whether there is any. owned are the fields below it that the
// operator has set, as in managedFields. A list without any is changed as a whole.
func (t tampering) field(in map[string]any, name string, owned map[string]any) (changed bool) {
	switch value := in[name].(type) {
	case map[string]any:
		return t.fields(value, owned, nil)
	case []any:
		if len(owned) == 0 {
			return t.first(value)
		}
		in[name], changed = t.items(value, owned)
		return changed
	}
	value, changed := t.scalar(in[name])
	if changed {
		in[name] = value
	}
	return changed
}

// fields changes the first value in an object. The fields of key stay: another key is another item.
func (t tampering) fields(in, owned, key map[string]any) bool {
	for _, step := range slices.Sorted(maps.Keys(owned)) {
		below, _ := owned[step].(map[string]any)
		name, named := strings.CutPrefix(step, "f:")
		if named && key[name] == nil && t.field(in, name, below) {
			return true
		}
	}
	return false
}

// items changes a field of an item with a key, or removes an item of a set: another value would be one more item.
func (t tampering) items(list []any, owned map[string]any) ([]any, bool) {
	for _, step := range slices.Sorted(maps.Keys(owned)) {
		below, _ := owned[step].(map[string]any)
		sort, text, _ := strings.Cut(step, ":")
		var value any
		if utiljson.Unmarshal([]byte(text), &value) != nil {
			continue
		}
		key, _ := value.(map[string]any)
		for i, item := range list {
			content, _ := item.(map[string]any)
			switch {
			case sort == "v" && key == nil && content == nil && reflect.DeepEqual(item, value):
				return slices.Delete(slices.Clone(list), i, i+1), true
			case sort == "k" && has(content, key) && t.fields(content, below, key):
				return list, true
			}
		}
	}
	return list, false
}

// has reports whether an item has a key.
func has(item, key map[string]any) bool {
	for name, value := range key {
		if item[name] != value {
			return false
		}
	}
	return item != nil
}

// first changes the first value in a list, however deep.
func (t tampering) first(list []any) (changed bool) {
	for i, item := range list {
		switch item := item.(type) {
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(item)) {
				if below, _ := item[name].(map[string]any); below == nil && t.field(item, name, nil) {
					return true
				}
			}
		case []any:
			changed = t.first(item)
		default:
			list[i], changed = t.scalar(item)
		}
		if changed {
			return true
		}
	}
	return false
}

// scalar returns another value of the same type, and whether there is any.
func (t tampering) scalar(value any) (any, bool) {
	switch value := value.(type) {
	case string:
		if t.encoded {
			return unpadded + value, true
		}
		return value + "x", true
	case int64:
		return value + 1, true
	case float64:
		return value + 1, true
	case bool:
		return !value, true
	}
	return value, false
}
