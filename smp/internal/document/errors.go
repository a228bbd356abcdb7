package document

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrDepth is wrapped by the error for a value that is nested more deeply than allowed.
var ErrDepth = errors.New("nested too deeply")

// maxDepth bounds every depth, so that a goroutine's stack always suffices.
const maxDepth = 100_000

// maxDepthPath is the number of steps in the path of an error about depth, enough to find the place. The whole path of
// data that contains itself would fill pages.
const maxDepthPath = 8

// SyntaxError is an error in a JSON text.
type SyntaxError struct {
	// Offset is the index of the wrong byte, or the length of the text if it ends too early.
	Offset int
	// Line is the line of that byte, the first being 1.
	Line int
	// Err describes what is wrong.
	Err error
}

// Error returns the place and the text of Err.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, offset %d: %v", e.Line, e.Offset, e.Err)
}

// Unwrap returns Err.
func (e *SyntaxError) Unwrap() error { return e.Err }

// ValueError is a Go value that isn't a JSON value.
type ValueError struct {
	// Path is the place of the value, as a JSON pointer (RFC 6901). For too much nesting it is the beginning of the
	// path.
	Path string
	// Err describes what is wrong.
	Err error

	// steps are the steps of the path in reverse, collected while the error is returned upwards.
	steps []string
}

// Error returns the path and the text of Err.
func (e *ValueError) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *ValueError) Unwrap() error { return e.Err }

// in adds the key of the container that holds the value at fault.
func (e *ValueError) in(key string) *ValueError {
	e.steps = append(e.steps, key)
	return e
}

// at adds the index in the list that holds the value at fault.
func (e *ValueError) at(index int) *ValueError { return e.in(strconv.Itoa(index)) }

// finish makes the path from the steps; nil stays nil.
func (e *ValueError) finish() error {
	if e == nil {
		return nil
	}
	slices.Reverse(e.steps)
	if errors.Is(e.Err, ErrDepth) {
		e.steps = e.steps[:min(len(e.steps), maxDepthPath)]
	}
	var path strings.Builder
	for _, step := range e.steps {
		path.WriteByte('/')
		path.WriteString(EscapeToken(step))
	}
	e.Path, e.steps = path.String(), nil
	return e
}

// EscapeToken writes a key as a token of a JSON pointer (RFC 6901).
func EscapeToken(key string) string {
	if !strings.ContainsAny(key, "~/") {
		return key
	}
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

func tooDeep(depth int) error {
	return fmt.Errorf("%w: more than %d levels", ErrDepth, depth)
}

func foreign(value any) error {
	return fmt.Errorf("a %T is no JSON value: convert it to nil, bool, string, a number, map[string]any or []any", value)
}
