package dryrun

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// edit changes the container that path ends in, and returns the document with it. The
// containers on the way are copied.
func edit(document any, path []string, change func(container any, key string) (any, error)) (any, error) {
	// As the only entry of a container the document itself can be changed too.
	root, err := editBelow([]any{document}, append([]string{"0"}, path...), change)
	if err != nil {
		return nil, err
	}
	return lookup(root, []string{"0"})
}

func editBelow(container any, path []string, change func(container any, key string) (any, error)) (any, error) {
	if len(path) == 1 {
		return change(container, path[0])
	}
	child, err := lookup(container, path[:1])
	if err != nil {
		return nil, err
	}
	if child, err = editBelow(child, path[1:], change); err != nil {
		return nil, err
	}
	return set(container, path[0], child)
}

// lookup returns the value at path.
func lookup(value any, path []string) (any, error) {
	for _, key := range path {
		switch container := value.(type) {
		case map[string]any:
			child, ok := container[key]
			if !ok {
				return nil, fmt.Errorf("there is no %q", key)
			}
			value = child
		case []any:
			i, err := index(key, len(container)-1)
			if err != nil {
				return nil, err
			}
			value = container[i]
		default:
			return nil, fmt.Errorf("there is no %q in a value", key)
		}
	}
	return value, nil
}

// set replaces an entry that exists.
func set(container any, key string, value any) (any, error) {
	if _, err := lookup(container, []string{key}); err != nil {
		return nil, err
	}
	switch c := container.(type) {
	case map[string]any:
		c = maps.Clone(c)
		c[key] = value
		return c, nil
	case []any:
		i, err := index(key, len(c)-1)
		if err != nil {
			return nil, err
		}
		c = slices.Clone(c)
		c[i] = value
		return c, nil
	}
	return container, nil
}

// insert adds an entry: to a map, or to a list in front of the one of that index.
func insert(container any, key string, value any) (any, error) {
	switch c := container.(type) {
	case map[string]any:
		c = maps.Clone(c)
		c[key] = value
		return c, nil
	case []any:
		if key == "-" {
			return append(slices.Clone(c), value), nil
		}
		i, err := index(key, len(c))
		if err != nil {
			return nil, err
		}
		return slices.Insert(slices.Clone(c), i, value), nil
	}
	return nil, fmt.Errorf("%q can't be added to a value", key)
}

// remove takes out an entry that exists.
func remove(container any, key string) (any, error) {
	if _, err := lookup(container, []string{key}); err != nil {
		return nil, err
	}
	switch c := container.(type) {
	case map[string]any:
		c = maps.Clone(c)
		delete(c, key)
		return c, nil
	case []any:
		i, err := index(key, len(c)-1)
		if err != nil {
			return nil, err
		}
		return slices.Delete(slices.Clone(c), i, i+1), nil
	}
	return container, nil
}

// index reads the index of a list, which is at most last.
func index(key string, last int) (int, error) {
	i, err := strconv.ParseUint(key, 10, 31)
	if err != nil || strconv.FormatUint(i, 10) != key {
		return 0, fmt.Errorf("%q is no index", key)
	}
	if int(i) > last {
		return 0, fmt.Errorf("index %d is behind the end", i)
	}
	return int(i), nil
}

// mergePatch applies a JSON merge patch (RFC 7386) without changing target.
func mergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged := map[string]any{}
	if content, ok := target.(map[string]any); ok {
		merged = maps.Clone(content)
	}
	for key, value := range changes {
		if value == nil {
			delete(merged, key)
		} else {
			merged[key] = mergePatch(merged[key], value)
		}
	}
	return merged
}
