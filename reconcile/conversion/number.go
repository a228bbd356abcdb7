package conversion

import "math"

// numbered returns a value with its numbers in the form in which they come from JSON: a fraction whose value is whole
// is an int64, so that what was kept as text is equal to what a function has written. It may change the value.
func numbered(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			v[key] = numbered(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = numbered(inner)
		}
	case float64:
		if v == math.Trunc(v) && v >= math.MinInt64 && v < math.MaxInt64 {
			return int64(v)
		}
	}
	return value
}

// numberedMap is numbered for an object.
func numberedMap(content map[string]any) map[string]any {
	numbered(content)
	return content
}
