package deploy

import (
	"strconv"
	"strings"
)

// fieldSteps splits the path of a field in an API server's error, such as spec.volumes[0].configMap, into names
// (string) and list indexes (int). A key in brackets, such as that of a label, becomes a name.
func fieldSteps(path string) []any {
	var steps []any
	for path != "" {
		var name string
		switch end := strings.IndexAny(path, ".["); {
		case path[0] == '[':
			closing := strings.IndexByte(path, ']')
			if closing < 0 {
				return append(steps, path)
			}
			name, path = path[1:closing], path[closing+1:]
			if index, err := strconv.Atoi(name); err == nil && index >= 0 {
				steps = append(steps, index)
			} else {
				steps = append(steps, name)
			}
			path = strings.TrimPrefix(path, ".")
			continue
		case end < 0:
			name, path = path, ""
		case path[end] == '.':
			name, path = path[:end], path[end+1:]
		default:
			name, path = path[:end], path[end:]
		}
		steps = append(steps, name)
	}
	return steps
}

// valueAt returns the value at a path. It returns false if there is none.
func valueAt(value any, path []any) (any, bool) {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			content, _ := value.(map[string]any)
			below, there := content[step]
			if !there {
				return nil, false
			}
			value = below
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil, false
			}
			value = list[step]
		}
	}
	return value, true
}

// removePath removes the map field at a path. A path that ends in a list item removes nothing.
func removePath(content map[string]any, path []any) {
	if len(path) == 0 {
		return
	}
	parent, _ := valueAt(content, path[:len(path)-1])
	if inner, isMap := parent.(map[string]any); isMap {
		if name, isName := path[len(path)-1].(string); isName {
			delete(inner, name)
		}
	}
}
