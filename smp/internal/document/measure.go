package document

import (
	"encoding/json"
	"maps"
	"slices"
)

// Check returns the error that [Clone] would return for value, without copying it. It visits fields sorted by name and
// returns the first error.
func Check(value any, depth int) error {
	limit := min(depth, maxDepth)
	if isPlain(value, limit) {
		return nil
	}
	return check(value, limit, limit).finish()
}

func check(value any, depth, limit int) *ValueError {
	switch v := value.(type) {
	case map[string]any:
		if depth <= 0 {
			return &ValueError{Err: tooDeep(limit)}
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := check(v[key], depth-1, limit); err != nil {
				return err.in(key)
			}
		}
	case []any:
		if depth <= 0 {
			return &ValueError{Err: tooDeep(limit)}
		}
		for i, value := range v {
			if err := check(value, depth-1, limit); err != nil {
				return err.at(i)
			}
		}
	default:
		if _, err := scalarOrError(value); err != nil {
			return &ValueError{Err: err}
		}
	}
	return nil
}

// Plain returns value itself if it is JSON already, and a copy by [Clone] if it holds Go's other numbers, nil maps or
// nil lists. Errors are those of Clone.
func Plain(value any, depth int) (any, error) {
	if isPlain(value, min(depth, maxDepth)) {
		return value, nil
	}
	return Clone(value, depth)
}

func isPlain(value any, depth int) bool {
	switch v := value.(type) {
	case string, int64, bool, nil:
		return true
	case float64:
		return finite(v) == nil
	case json.Number:
		return isNumber(string(v))
	case map[string]any:
		if v == nil || depth <= 0 {
			return false
		}
		for _, value := range v {
			if !isPlain(value, depth-1) {
				return false
			}
		}
		return true
	case []any:
		return v != nil && depth > 0 && !slices.ContainsFunc(v, func(value any) bool { return !isPlain(value, depth-1) })
	default:
		return false
	}
}

// Size is about how many bytes [Append] would write for value. It assumes a typical length for numbers and doesn't
// count escapes. The value has to be checked or copied before, so that it can't contain itself.
func Size(value any) int {
	const number, bracketsOrQuotes, comma, colon = 8, 2, 1, 1
	switch v := value.(type) {
	case string:
		return len(v) + bracketsOrQuotes
	case map[string]any:
		size := bracketsOrQuotes
		for key, value := range v {
			size += len(key) + bracketsOrQuotes + colon + Size(value) + comma
		}
		return size
	case []any:
		size := bracketsOrQuotes
		for _, value := range v {
			size += Size(value) + comma
		}
		return size
	default:
		return number
	}
}
