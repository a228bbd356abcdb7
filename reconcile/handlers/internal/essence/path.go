package essence

import "maps"

// lookUp returns the value at path, and false if there is none. A null is a value.
func lookUp(object map[string]any, path []string) (value any, ok bool) {
	value, ok = object, len(path) > 0
	for _, key := range path {
		parent, _ := value.(map[string]any)
		if value, ok = parent[key]; !ok {
			return nil, false
		}
	}
	return value, ok
}

// at returns the value at path, nil if there is none.
func at(object map[string]any, path []string) any {
	value, _ := lookUp(object, path)
	return value
}

// set sets the value at path. It changes object itself, and copies the maps on the way.
func set(object map[string]any, path []string, value any) {
	for ; len(path) > 1; path = path[1:] {
		inner, _ := object[path[0]].(map[string]any)
		copied := make(map[string]any, len(inner)+1)
		maps.Copy(copied, inner)
		object[path[0]] = copied
		object = copied
	}
	object[path[0]] = value
}

// without returns object without the field at path, and without maps on the way that have become empty by that. It
// changes nothing: it copies the maps on the way.
func without(object map[string]any, path []string) (result map[string]any, removed bool) {
	value, ok := object[path[0]]
	if !ok {
		return object, false
	}
	if len(path) > 1 {
		inner, isMap := value.(map[string]any)
		if !isMap {
			return object, false
		}
		if inner, removed = without(inner, path[1:]); !removed {
			return object, false
		}
		if len(inner) > 0 {
			result = maps.Clone(object)
			result[path[0]] = inner
			return result, true
		}
	}
	result = maps.Clone(object)
	delete(result, path[0])
	return result, true
}
