package deploy

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fieldSet is what a manager owns, as the API server writes it: nested maps with keys
// "f:name", "k:{...}", "v:value" and ".". An empty one is a leaf.
type fieldSet map[string]any

// appliedFields returns what manager owns on live by apply, nil when there is no such entry
// for the version of live, and what everybody else owns.
func appliedFields(live *unstructured.Unstructured, manager string) (ours fieldSet, others []fieldSet) {
	for _, entry := range managedEntries(live) {
		fields, _ := entry["fieldsV1"].(map[string]any)
		if entry["manager"] == manager && entry["operation"] == "Apply" &&
			entry["subresource"] == nil && entry["apiVersion"] == live.GetAPIVersion() {
			ours = fields
		} else {
			others = append(others, fields)
		}
	}
	return ours, others
}

func managedEntries(live *unstructured.Unstructured) []map[string]any {
	metadata, _ := live.Object["metadata"].(map[string]any)
	list, _ := metadata["managedFields"].([]any)
	entries := make([]map[string]any, 0, len(list))
	for _, item := range list {
		if entry, ok := item.(map[string]any); ok {
			entries = append(entries, entry)
		}
	}
	return entries
}

// below returns the field set of one key, nil when it isn't there.
func (f fieldSet) below(key string) fieldSet {
	fields, _ := f[key].(map[string]any)
	return fields
}

// allBelow returns the field sets that hold key, each below it.
func allBelow(sets []fieldSet, key string) []fieldSet {
	var found []fieldSet
	for _, set := range sets {
		if _, ok := set[key]; ok {
			found = append(found, set.below(key))
		}
	}
	return found
}

// isOf tells whether what is in the set can be below value: fields of a map, items of a list.
func (f fieldSet) isOf(value any) bool {
	for key := range f {
		isField, isItem := strings.HasPrefix(key, "f:"), strings.HasPrefix(key, "k:") || strings.HasPrefix(key, "v:")
		switch value.(type) {
		case map[string]any:
			if isItem {
				return false
			}
		case []any:
			if isField {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// listKey is one "k:{...}" of a field set.
type listKey struct {
	name string
	key  map[string]any
}

func (f fieldSet) listKeys() []listKey {
	var keys []listKey
	for name := range f {
		if key, ok := listKeyOf(name); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// listKeyOf reads one key of a field set, false when it isn't that of a list's item.
func listKeyOf(name string) (listKey, bool) {
	text, ok := strings.CutPrefix(name, "k:")
	var key map[string]any
	if !ok || json.Unmarshal([]byte(text), &key) != nil {
		return listKey{}, false
	}
	return listKey{name, key}, true
}

// fits tells whether element has no other value in any of the key's fields.
func (k listKey) fits(element map[string]any) bool {
	for name, want := range k.key {
		if have, present := element[name]; present && !sameScalar(have, want) {
			return false
		}
	}
	return true
}

// isOf tells whether element has all of the key's fields, with these values.
func (k listKey) isOf(element map[string]any) bool {
	for name := range k.key {
		if _, present := element[name]; !present {
			return false
		}
	}
	return k.fits(element)
}

// find returns the element of a list that has the key.
func (k listKey) find(list []any) map[string]any {
	for _, item := range list {
		if element, ok := item.(map[string]any); ok && k.isOf(element) {
			return element
		}
	}
	return nil
}

// holdsValue tells whether item, of a list that is a set, is in the field set.
func (f fieldSet) holdsValue(item any) bool {
	for key := range f {
		text, ok := strings.CutPrefix(key, "v:")
		if !ok {
			continue
		}
		var value any
		if json.Unmarshal([]byte(text), &value) == nil && sameScalar(item, value) {
			return true
		}
	}
	return false
}

func sameScalar(a, b any) bool {
	return reflect.DeepEqual(number(a), number(b))
}

// number is a number as int64 where it is whole and can be told from its neighbours; anything else as
// it is.
func number(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	}
	return value
}
