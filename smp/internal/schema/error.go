package schema

import "fmt"

// Error is what is wrong with the description of a type.
type Error struct {
	// Path is the place in the description, as a JSON pointer; it may be empty.
	Path string
	// Reason is the sort of mistake.
	Reason Reason
	// Err says it in words.
	Err error
}

// Reason is the sort of mistake of an [Error].
type Reason uint8

const (
	// Malformed is a description that can't be read.
	Malformed Reason = iota
	// Missing is a kind or version that the description doesn't have.
	Missing
	// TooDeep is a description that is nested too deep.
	TooDeep
)

// Error names the path before what is wrong.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error].
func Errorf(reason Reason, path, format string, args ...any) error {
	return &Error{Path: path, Reason: reason, Err: fmt.Errorf(format, args...)}
}
