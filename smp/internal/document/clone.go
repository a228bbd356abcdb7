package document

import "maps"

// Clone copies value so that the copy shares no map and no list with it. Integers of Go types other than int64 become
// int64, or json.Number if an int64 can't hold them. float32 becomes float64. Nil maps and nil lists become empty ones.
//
// depth is the number of levels that containers may be nested; with 0, value may not be a container. Errors are always
// a [*ValueError]: too much nesting (wrapping [ErrDepth]), a Go type that isn't JSON, NaN and infinities.
func Clone(value any, depth int) (any, error) {
	if clone, ok := clone(value, min(depth, maxDepth)); ok {
		return clone, nil
	}
	return nil, Check(value, depth)
}

func clone(value any, depth int) (copied any, ok bool) {
	switch v := value.(type) {
	case string, int64, bool, nil:
		return value, true
	case map[string]any:
		return cloneObject(v, depth-1)
	case []any:
		return cloneList(v, depth-1)
	default:
		number, err := scalarOrError(value)
		return number, err == nil
	}
}

func cloneObject(object map[string]any, depth int) (any, bool) {
	if depth < 0 {
		return nil, false
	}
	// Copying the map at once is faster than key by key. Then only values that aren't plain scalars are replaced.
	copied := maps.Clone(object)
	if copied == nil {
		return map[string]any{}, true
	}
	for key, value := range object {
		switch value.(type) {
		case string, int64, bool, nil:
			continue
		}
		own, ok := clone(value, depth)
		if !ok {
			return nil, false
		}
		copied[key] = own
	}
	return copied, true
}

func cloneList(list []any, depth int) (any, bool) {
	if depth < 0 {
		return nil, false
	}
	copied := make([]any, len(list))
	var uniform Uniform
	for i, value := range list {
		if object, isObject := value.(map[string]any); isObject && depth > 0 && len(object) > 0 && uniform.Scalars(object) {
			copied[i] = maps.Clone(object)
			continue
		}
		own, ok := clone(value, depth)
		if !ok {
			return nil, false
		}
		copied[i] = own
	}
	return copied, true
}

// scalarOrError takes a value that isn't a container and returns it in the form that documents have, or an error if the
// value isn't JSON.
func scalarOrError(value any) (any, error) {
	switch value.(type) {
	case string, bool, nil:
		return value, nil
	}
	number, known, err := normal(value)
	if !known {
		return nil, foreign(value)
	}
	return number, err
}
