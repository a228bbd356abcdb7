package smp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/smp/internal/document"
)

// clone copies a value from the current path on.
func (m *merger) clone(value any) (any, error) {
	copied, err := document.Clone(value, max(m.limits.depth-len(m.path), 0))
	if err != nil {
		if errors.Is(err, document.ErrDepth) {
			err = fmt.Errorf("%w: more than %d levels", document.ErrDepth, m.limits.depth)
		}
		return nil, notJSON(err, m.path.String())
	}
	return copied, nil
}

// nested tells whether a value holds others.
func nested(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return true
	default:
		return false
	}
}

// typeName is what a value is in JSON, for errors.
func typeName(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int64, float64, json.Number:
		return "a number"
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	default:
		if _, isScalar := document.Scalar(value); isScalar {
			return "a number"
		}
		return fmt.Sprintf("a %T of Go", value)
	}
}

// quoted is a value as errors show it.
func quoted(value any) string {
	if text, isText := value.(string); isText {
		return strconv.Quote(text)
	}
	return typeName(value)
}
