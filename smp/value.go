package smp

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/operkit/operkit/smp/internal/document"
)

// clone copies a value from the current path on.
func (m *merger) clone(value any) (any, error) {
	copied, err := document.Clone(value, m.limits.depth-len(m.path))
	if err != nil {
		return nil, m.notJSON(err)
	}
	return copied, nil
}

// notJSON is the error about a value at the current path that document couldn't copy.
func (m *merger) notJSON(err error) error {
	kind := Document
	if errors.Is(err, document.ErrDepth) {
		kind = Limit
	}
	place := m.path.String()
	var inner *document.ValueError
	if errors.As(err, &inner) {
		place, err = place+inner.Path, inner.Err
	}
	return &PatchError{Path: place, Kind: kind, Err: err}
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
		return fmt.Sprintf("a %T of Go", value)
	}
}
