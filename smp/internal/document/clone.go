package document

import (
	"encoding/json"
	"maps"
)

// Clone copies value so that the copy shares no map and no list with it. Go's other integers and
// float32 become int64 and float64, nil maps and nil lists empty ones.
//
// Containers may be nested depth deep; zero allows none. Errors are always a [*ValueError]: too much
// nesting (wrapping [ErrDepth]), a Go type that isn't JSON, NaN and infinities.
func Clone(value any, depth int) (any, error) {
	c := cloner{limit: min(depth, maxDepth)}
	clone, err := c.value(value, c.limit)
	if err != nil {
		return nil, Check(value, depth)
	}
	return clone, nil
}

type cloner struct{ limit int }

func (c cloner) value(value any, depth int) (any, *ValueError) {
	switch v := value.(type) {
	case map[string]any:
		return c.object(v, depth-1)
	case []any:
		return c.list(v, depth-1)
	case string, int64, bool, nil:
		return value, nil
	default:
		return c.number(value)
	}
}

func (c cloner) object(object map[string]any, depth int) (any, *ValueError) {
	if depth < 0 {
		return nil, &ValueError{Err: tooDeep(c.limit)}
	}
	// Copied at once, which is faster than by key; then only what isn't a plain scalar is replaced.
	clone := maps.Clone(object)
	if clone == nil {
		return map[string]any{}, nil
	}
	for key, value := range object {
		switch value.(type) {
		case string, int64, bool, nil:
			continue
		}
		own, err := c.value(value, depth)
		if err != nil {
			return nil, err.in(key)
		}
		clone[key] = own
	}
	return clone, nil
}

func (c cloner) list(list []any, depth int) (any, *ValueError) {
	if depth < 0 {
		return nil, &ValueError{Err: tooDeep(c.limit)}
	}
	clone := make([]any, len(list))
	var uniform Uniform
	for i, value := range list {
		if object, isObject := value.(map[string]any); isObject && depth > 0 && len(object) > 0 && uniform.Scalars(object) {
			clone[i] = maps.Clone(object)
			continue
		}
		own, err := c.value(value, depth)
		if err != nil {
			return nil, err.at(i)
		}
		clone[i] = own
	}
	return clone, nil
}

func (c cloner) number(value any) (any, *ValueError) {
	switch v := value.(type) {
	case float64:
		if err := finite(v); err != nil {
			return nil, &ValueError{Err: err}
		}
		return value, nil
	case json.Number:
		if !isNumber(string(v)) {
			break
		}
		return value, nil
	}
	number, known, err := normal(value)
	if !known {
		return nil, foreign(value)
	}
	if err != nil {
		return nil, &ValueError{Err: err}
	}
	return number, nil
}
