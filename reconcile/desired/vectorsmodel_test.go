package desired_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// This is a model of a server-side apply: what becomes of a child that an operator has applied, that somebody else has
// changed, and that the operator applies again.

// keys are the keys of lists in the schema, by the last field of their paths.
var keys = map[string]string{"containers": "name", "env": "name", "ports": "containerPort", "hostAliases": "ip", "m": "mountPath"}

// keyOf returns the key of the list at a path, empty if the list is replaced as a whole.
func keyOf(path []string) string {
	switch text := strings.Join(path, "."); {
	case text == "metadata.ownerReferences":
		return "uid"
	case text == "spec.containers", text == "spec.hostAliases", text == "spec.m",
		strings.HasPrefix(text, "spec.containers.") && len(path) == 3:
		return keys[path[len(path)-1]]
	}
	return ""
}

// isSet reports whether a list at a path is a set of values.
func isSet(path []string) bool { return strings.Join(path, ".") == "metadata.finalizers" }

func below(path []string, field string) []string { return append(slices.Clone(path), field) }

// expected returns the fields after the second apply.
func expected(path []string, last, observed, wanted map[string]any) map[string]any {
	out := map[string]any{}
	for field := range observed {
		if _, isWanted := wanted[field]; isWanted {
			continue
		}
		if left, ok := others(below(path, field), last[field], observed[field]); ok {
			out[field] = left
		}
	}
	for field, value := range wanted {
		at := below(path, field)
		mine, theirs := last[field], observed[field]
		switch v := value.(type) {
		case map[string]any:
			before, _ := mine.(map[string]any)
			present, _ := theirs.(map[string]any)
			out[field] = expected(at, before, present, v)
		case []any:
			out[field] = expectedList(at, asList(mine), asList(theirs), v)
		default:
			out[field] = value
		}
	}
	return out
}

func asList(value any) []any {
	list, _ := value.([]any)
	return list
}

func expectedList(path []string, last, observed, wanted []any) []any {
	out := []any{}
	switch key := keyOf(path); {
	case isSet(path):
		out = slices.Clone(wanted)
		for _, item := range observed {
			if !slices.Contains(wanted, item) && !slices.Contains(last, item) {
				out = append(out, item)
			}
		}
	case key == "":
		return wanted
	default:
		for _, item := range wanted {
			name := item.(map[string]any)[key]
			out = append(out, expected(path, named(last, key, name), named(observed, key, name), item.(map[string]any)))
		}
		for _, item := range observed {
			name := item.(map[string]any)[key]
			if named(wanted, key, name) != nil {
				continue
			}
			if left, ok := others(path, named(last, key, name), item); ok {
				left.(map[string]any)[key] = name
				out = append(out, left)
			}
		}
	}
	return out
}

// named returns the item of a list with a key, nil if there is none.
func named(list []any, key string, name any) map[string]any {
	for _, item := range list {
		if fields, _ := item.(map[string]any); fields != nil && fields[key] == name {
			return fields
		}
	}
	return nil
}

// others returns what is left of an observed value without what the operator has applied last.
func others(path []string, last, observed any) (left any, ok bool) {
	switch v := observed.(type) {
	case map[string]any:
		mine, was := last.(map[string]any)
		if !was || mine == nil {
			return v, true
		}
		kept := map[string]any{}
		for field, value := range v {
			if rest, some := others(below(path, field), mine[field], value); some {
				kept[field] = rest
			}
		}
		return kept, len(kept) > 0
	case []any:
		if mine := asList(last); keyOf(path) != "" || isSet(path) {
			kept := expectedList(path, mine, v, nil)
			return kept, len(kept) > 0
		}
	}
	return observed, !reflect.DeepEqual(last, observed)
}

// sorted returns a value with the items of lists with keys in the order of the keys: that of others' items is not ours.
func sorted(path []string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for field, item := range v {
			if inner := sorted(below(path, field), item); !isEmpty(inner) {
				out[field] = inner
			}
		}
		return out
	case []any:
		out := slices.Clone(v)
		for i := range out {
			out[i] = sorted(path, out[i])
		}
		if key := keyOf(path); key != "" {
			slices.SortStableFunc(out, func(a, b any) int {
				one, _ := a.(map[string]any)
				other, _ := b.(map[string]any)
				return strings.Compare(fmt.Sprint(one[key]), fmt.Sprint(other[key]))
			})
		}
		return out
	}
	return value
}

// isEmpty reports whether a value is an empty map or list, which is the same as none for whoever reads the child.
func isEmpty(value any) bool {
	v := reflect.ValueOf(value)
	return value == nil || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0
}

// hasUnkeyed reports whether a list with keys has an item without a key, or two with the same one.
func hasUnkeyed(path []string, value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Keys(v)), func(field string) bool { return hasUnkeyed(below(path, field), v[field]) })
	case []any:
		key, seen := keyOf(path), []any{}
		for _, item := range v {
			fields, _ := item.(map[string]any)
			if key != "" && (fields[key] == nil || slices.Contains(seen, fields[key])) || hasUnkeyed(path, item) {
				return true
			}
			seen = append(seen, fields[key])
		}
	}
	return false
}

// hasList reports whether a value has a list.
func hasList(value any) bool {
	content, _ := value.(map[string]any)
	for _, item := range content {
		if _, isList := item.([]any); isList || hasList(item) {
			return true
		}
	}
	return false
}
