package plain

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/json"
)

// Map returns content itself if it has the plain form, otherwise a copy that is converted through JSON.
func Map(content map[string]any) (map[string]any, error) {
	if Is(content) {
		return content, nil
	}
	document, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(document, &out)
}

// Value returns value itself if it has the plain form, otherwise a copy that is converted through JSON.
func Value(value any) (any, error) {
	if Is(value) {
		return value, nil
	}
	document, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(document, &out)
}

// Is reports whether a value has the plain form.
func Is(value any) bool {
	switch v := value.(type) {
	case nil, string, bool, int64, float64:
		return true
	case map[string]any:
		for _, item := range v {
			if !Is(item) {
				return false
			}
		}
		return true
	case []any:
		return !slices.ContainsFunc(v, func(item any) bool { return !Is(item) })
	}
	return false
}
