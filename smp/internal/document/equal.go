package document

// Equal reports whether a and b are the same JSON value: 80, 80.0 and json.Number("8e1") are one number. A nil map or
// list is the same as an empty map or list. A value that isn't JSON, or that is nested so deeply that it may contain
// itself, isn't equal to any value.
func Equal(a, b any) bool { return equal(a, b, maxDepth) }

func equal(a, b any, depth int) bool {
	switch a := a.(type) {
	case string:
		b, ok := b.(string)
		return ok && a == b
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && equalObjects(a, b, depth-1)
	case []any:
		b, ok := b.([]any)
		return ok && equalLists(a, b, depth-1)
	case int64:
		if b, ok := b.(int64); ok {
			return a == b
		}
		return equalNumbers(a, b)
	case bool:
		b, ok := b.(bool)
		return ok && a == b
	case nil:
		return b == nil
	default:
		return equalNumbers(a, b)
	}
}

func equalObjects(a, b map[string]any, depth int) bool {
	if len(a) != len(b) || depth < 0 {
		return false
	}
	for key, value := range a {
		other, found := b[key]
		if !found || !equal(value, other, depth) {
			return false
		}
	}
	return true
}

func equalLists(a, b []any, depth int) bool {
	if len(a) != len(b) || depth < 0 {
		return false
	}
	var uniform Uniform
	for i := range a {
		if object, isObject := a[i].(map[string]any); isObject && depth > 0 {
			if other, both := b[i].(map[string]any); both && uniform.Same(object, other) {
				continue
			}
		}
		if !equal(a[i], b[i], depth) {
			return false
		}
	}
	return true
}

func equalNumbers(a, b any) bool {
	x, isScalar := Scalar(a)
	y, both := Scalar(b)
	return isScalar && both && x == y
}
