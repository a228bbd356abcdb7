package deploy

import (
	"fmt"
	"math"
)

// plainMap copies a JSON object as the API server would read it: integers are int64, and
// entries that are null are left out, since to apply a null is to own an absent field.
func plainMap(content map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(content))
	for key, item := range content {
		if item == nil {
			continue
		}
		copied, err := plain(item)
		if err != nil {
			return nil, fmt.Errorf(".%s%w", key, err)
		}
		out[key] = copied
	}
	return out, nil
}

func plain(value any) (any, error) {
	switch v := value.(type) {
	case nil, string, bool, int64:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf(": %v is not a JSON value", v)
		}
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case map[string]any:
		return plainMap(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			copied, err := plain(item)
			if err != nil {
				return nil, fmt.Errorf("[%d]%w", i, err)
			}
			out[i] = copied
		}
		return out, nil
	}
	return nil, fmt.Errorf(": %T is not a JSON value", value)
}
