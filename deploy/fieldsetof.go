package deploy

import (
	"maps"
	"slices"
	"strings"
)

// of returns the part of value that the set owns. A leaf is owned with all that is in it; an item of a list keeps the
// fields that make its key.
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

// with returns the set with one more leaf. It shares with f what is beside the way to it.
func (f fieldSet) with(keys []string) fieldSet {
	out := maps.Clone(f)
	if out == nil {
		out = fieldSet{}
	}
	switch {
	case len(keys) == 1:
		out[keys[0]] = map[string]any{}
	default:
		out[keys[0]] = map[string]any(f.below(keys[0]).with(keys[1:]))
	}
	return out
}

// holds reports whether the field that names lead to, or something in it, is in the set.
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

// exceeds reports whether the set holds something that value doesn't have.
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

// nullUnwanted sets to null what is in the set, is in no other one, and isn't in content: a merge patch removes that
// then.
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
