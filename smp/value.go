package smp

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/operkit/operkit/smp/internal/document"
)

// clone copies the value at the current path.
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

// quoted returns a value as errors show it.
func quoted(value any) string {
	if text, isText := value.(string); isText {
		return strconv.Quote(text)
	}
	return document.TypeName(value)
}
