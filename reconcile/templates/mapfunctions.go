package templates

import (
	"maps"
	"reflect"
	"slices"
)

// keys lists the keys of the maps, of each in their order.
func keys(maps ...map[string]any) []string {
	var all []string
	for _, m := range maps {
		all = append(all, sortedKeys(m)...)
	}
	return all
}

func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func values(m map[string]any) []any {
	var all []any
	for _, key := range sortedKeys(m) {
		all = append(all, m[key])
	}
	return all
}

// setKey refuses what could only be printed without end.
func setKey(m map[string]any, key string, value any) (map[string]any, error) {
	if reaches(value, m) {
		return nil, rulef("", "a map can't hold itself")
	}
	m[key] = value
	return m, nil
}

// reaches tells whether m is somewhere in value.
func reaches(value any, m map[string]any) bool {
	switch v := value.(type) {
	case map[string]any:
		if reflect.ValueOf(v).Pointer() == reflect.ValueOf(m).Pointer() {
			return true
		}
		for _, item := range v {
			if reaches(item, m) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return reaches(item, m) })
	}
	return false
}

// merging is a function of sprig that merges copies into a map, which so can't come to hold itself.
func merging(name string) func(map[string]any, ...map[string]any) (any, error) {
	merge, _ := sprigFunctions[name].(func(map[string]any, ...map[string]any) (any, error))
	return func(into map[string]any, sources ...map[string]any) (any, error) {
		copies := make([]map[string]any, len(sources))
		for i, source := range sources {
			copies[i], _ = copyOf(source).(map[string]any)
		}
		return merge(into, copies...)
	}
}

func copyOf(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyOf(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyOf(item)
		}
		return out
	}
	return value
}
