package deploy

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// fieldSet is the set of fields of a manager in the form in which the API server writes it: nested maps with keys
// "f:name", "k:{...}", "v:value" and ".". An empty set is a leaf.
type fieldSet map[string]any

// appliedFields returns the fields that manager owns by apply, and the field sets of all other entries. ours is nil if
// manager has no entry for the version of live.
func appliedFields(live *unstructured.Unstructured, manager string) (ours fieldSet, others []fieldSet) {
	for _, entry := range managedEntries(live) {
		if entry.isApplyOf(manager) && entry["apiVersion"] == live.GetAPIVersion() {
			ours = entry.fields()
		} else {
			others = append(others, entry.fields())
		}
	}
	return ours, others
}

// ownedFields returns the field sets of all entries.
func ownedFields(live *unstructured.Unstructured) []fieldSet {
	var owned []fieldSet
	for _, entry := range managedEntries(live) {
		owned = append(owned, entry.fields())
	}
	return owned
}

// managedEntry is one entry of managedFields.
type managedEntry map[string]any

func managedEntries(live *unstructured.Unstructured) []managedEntry {
	metadata, _ := live.Object["metadata"].(map[string]any)
	return mapsIn[managedEntry](metadata["managedFields"])
}

func (e managedEntry) manager() string {
	name, _ := e["manager"].(string)
	return name
}

func (e managedEntry) fields() fieldSet {
	fields, _ := e["fieldsV1"].(map[string]any)
	return fields
}

// isApplyOf reports whether manager made the entry by apply.
func (e managedEntry) isApplyOf(manager string) bool {
	return e["manager"] == manager && e["operation"] == "Apply" && e["subresource"] == nil
}

// withFields returns a copy of the entry with fields instead of its own.
func (e managedEntry) withFields(fields fieldSet) map[string]any {
	entry := maps.Clone(e)
	entry["fieldsV1"] = map[string]any(fields)
	return entry
}

// below returns the field set of one key, nil if the key is absent.
func (f fieldSet) below(key string) fieldSet {
	fields, _ := f[key].(map[string]any)
	return fields
}

// leaves returns the paths of the leaves, ascending, as keys.
func (f fieldSet) leaves() (paths [][]string) {
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if len(f.below(key)) == 0 && key != "." {
			paths = append(paths, []string{key})
		}
		for _, path := range f.below(key).leaves() {
			paths = append(paths, append([]string{key}, path...))
		}
	}
	return paths
}

// allBelow returns, for each of sets that has key, the field set below key.
func allBelow(sets []fieldSet, key string) []fieldSet {
	var found []fieldSet
	for _, set := range sets {
		if _, ok := set[key]; ok {
			found = append(found, set.below(key))
		}
	}
	return found
}

// isOf reports whether the keys of the set fit the type of value: fields for a map, items for a list.
func (f fieldSet) isOf(value any) bool {
	_, isMap := value.(map[string]any)
	_, isList := value.([]any)
	for key := range f {
		isField, isItem := strings.HasPrefix(key, "f:"), strings.HasPrefix(key, "k:") || strings.HasPrefix(key, "v:")
		if isField && !isMap || isItem && !isList || !isMap && !isList {
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

// listKeyOf parses a key of a field set. It returns false if the key doesn't stand for a list item.
func listKeyOf(name string) (listKey, bool) {
	text, ok := strings.CutPrefix(name, "k:")
	var key map[string]any
	if !ok || json.Unmarshal([]byte(text), &key) != nil {
		return listKey{}, false
	}
	return listKey{name, key}, true
}

// fits reports whether element has, in each field of the key, the same value as the key or no value.
func (k listKey) fits(element map[string]any) bool {
	for name, want := range k.key {
		if have, present := element[name]; present && !sameScalar(have, want) {
			return false
		}
	}
	return true
}

// isOf reports whether element has all fields of the key with the same values.
func (k listKey) isOf(element map[string]any) bool {
	for name := range k.key {
		if _, present := element[name]; !present {
			return false
		}
	}
	return k.fits(element)
}

// find returns the element of a list that has the key, nil if there is none.
func (k listKey) find(list []any) map[string]any {
	for _, item := range list {
		if element, ok := item.(map[string]any); ok && k.isOf(element) {
			return element
		}
	}
	return nil
}

// holdsValue reports whether the field set has item, which is an element of a list that is a set.
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

// of returns the part of value that the set owns. A leaf owns everything below it. List items keep the fields of their
// key.
func (f fieldSet) of(value any) any {
	if len(f) == 0 {
		return value
	}
	switch value := value.(type) {
	case map[string]any:
		owned := map[string]any{}
		for name, item := range value {
			if _, holds := f["f:"+name]; holds {
				owned[name] = f.below("f:" + name).of(item)
			}
		}
		return owned
	case []any:
		return f.itemsOf(value)
	}
	return value
}

func (f fieldSet) itemsOf(list []any) []any {
	keys := f.listKeys()
	owned := []any{}
	for _, item := range list {
		element, isMap := item.(map[string]any)
		if !isMap {
			if f.holdsValue(item) {
				owned = append(owned, item)
			}
			continue
		}
		for _, key := range keys {
			if !key.isOf(element) {
				continue
			}
			part, _ := f.below(key.name).of(element).(map[string]any)
			part = maps.Clone(part)
			maps.Copy(part, key.key)
			owned = append(owned, part)
			break
		}
	}
	return owned
}

// with returns the set with one more leaf. It copies only the maps on the path.
func (f fieldSet) with(keys []string) fieldSet {
	out := fieldSet{}
	maps.Copy(out, f)
	if len(keys) > 0 {
		out[keys[0]] = map[string]any(f.below(keys[0]).with(keys[1:]))
	}
	return out
}

// holds reports whether the set has the field at names, or a field below it.
func (f fieldSet) holds(names []any) bool {
	for _, name := range names {
		key := "f:" + name.(string)
		if _, there := f[key]; !there {
			return false
		}
		f = f.below(key)
	}
	return true
}

// exceeds reports whether the set has a field that value lacks.
func (f fieldSet) exceeds(value any) bool {
	content, _ := value.(map[string]any)
	list, _ := value.([]any)
	for key := range f {
		name, isField := strings.CutPrefix(key, "f:")
		item, isItem := listKeyOf(key)
		single := fieldSet{key: map[string]any{}}
		switch {
		case isField:
			if below, there := content[name]; !there || f.below(key).exceeds(below) {
				return true
			}
		case isItem:
			if element := item.find(list); element == nil || f.below(key).exceeds(element) {
				return true
			}
		case strings.HasPrefix(key, "v:"):
			if !slices.ContainsFunc(list, single.holdsValue) {
				return true
			}
		}
	}
	return false
}

// nullUnwanted adds to content a null for each field of this set that neither content nor others have. A merge patch
// with this content removes these fields.
func (f fieldSet) nullUnwanted(content map[string]any, others []fieldSet) {
	for key := range f {
		name, isField := strings.CutPrefix(key, "f:")
		value, there := content[name]
		switch fields, isMap := value.(map[string]any); {
		case !isField:
		case isMap:
			f.below(key).nullUnwanted(fields, allBelow(others, key))
		case !there && len(allBelow(others, key)) == 0:
			content[name] = nil
		}
	}
}
