package deploy

import (
	"regexp"
	"strconv"
)

// fieldSteps splits the path of a field in an API server's error, such as spec.volumes[0].configMap, into names
// (string) and list indexes (int). A key in brackets, such as the key of a label, becomes a name.
func fieldSteps(path string) (steps []any) {
	for _, step := range fieldStep.FindAllStringSubmatch(path, -1) {
		name, bracketed := step[0], step[1]
		index, err := strconv.Atoi(bracketed)
		switch {
		case err == nil && index >= 0:
			steps = append(steps, index)
		case bracketed != "":
			steps = append(steps, bracketed)
		default:
			steps = append(steps, name)
		}
	}
	return steps
}

// fieldStep matches a name, or a key or index in brackets.
var fieldStep = regexp.MustCompile(`\[([^\]]*)\]|\[.*|[^.[]+`)

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
