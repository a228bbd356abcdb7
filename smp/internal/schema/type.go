package schema

import (
	"fmt"
	"strings"
)

// Shape is the kind of JSON values of a type.
type Shape uint8

const (
	// Any is an unknown value: maps in it merge, lists in it are atomic.
	Any Shape = iota
	// Scalar is a string, number or boolean, or a value that is always replaced as a whole.
	Scalar
	// Object is a map whose fields are known.
	Object
	// Map is a map with free keys and values of one type.
	Map
	// List is a list with elements of one type.
	List
)

// Type describes the values at one place. It is immutable after it has been built, may refer to itself through its
// fields, and is shared between places.
type Type struct {
	// Name is for messages, as in "io.k8s.api.core.v1.PodSpec"; it may be empty.
	Name  string
	Shape Shape
	// Fields are the fields of an Object.
	Fields map[string]Place
	// Open reports that an Object may also have unknown fields besides Fields.
	Open bool
	// Values is the type and the strategy of the values in a Map or a List.
	Values Place
}

// Strategy is how a patch of a place is merged, as a set of bits. The zero value merges maps and
// replaces everything else.
type Strategy uint8

const (
	// Merge merges lists: by Keys when there are any, as a set of scalars otherwise.
	Merge Strategy = 1 << iota
	// Replace replaces maps as a whole.
	Replace
	// RetainKeys makes diffs list the keys that stay.
	RetainKeys
)

// Place is a position in documents of a kind: the type of the values there and how they merge.
type Place struct {
	Type     *Type
	Strategy Strategy
	// Keys identify the elements of a merged list of objects. Several keys identify an element together.
	Keys []Key
}

// Key is a field that identifies elements of a list.
type Key struct {
	Name string
	// Default is used for an element without the field. nil means that each element needs the field.
	Default any
}

// Field returns the place of a field. known is false for a field that the type doesn't have. A type with unknown
// content and an open type have every field.
func (t *Type) Field(name string) (place Place, known bool) {
	if t == nil {
		return Place{}, true
	}
	switch t.Shape {
	case Any:
		return Place{}, true
	case Map:
		return t.Values, true
	case Object:
		if place, known = t.Fields[name]; known {
			return place, true
		}
		return Place{}, t.Open
	default:
		return Place{}, false
	}
}

// Elements returns the type of the elements of a List, nil if it isn't known.
func (t *Type) Elements() *Type {
	if t == nil {
		return nil
	}
	return t.Values.Type
}

// strategies are the names of the bits of a Strategy, in the order in which they are written.
var strategies = []struct {
	bit  Strategy
	name string
}{{Merge, "merge"}, {Replace, "replace"}, {RetainKeys, "retainKeys"}}

// ParseStrategy reads a strategy as struct tags and x-kubernetes-patch-strategy write it: names
// with commas between them.
func ParseStrategy(text string) (Strategy, error) {
	var parsed Strategy
	if text == "" {
		return parsed, nil
	}
	for name := range strings.SplitSeq(text, ",") {
		bit := strategyBit(name)
		if bit == 0 {
			return 0, fmt.Errorf("patch strategy %q: %q is none of merge, replace and retainKeys", text, name)
		}
		parsed |= bit
	}
	return parsed, nil
}

func strategyBit(name string) Strategy {
	for _, s := range strategies {
		if s.name == name {
			return s.bit
		}
	}
	return 0
}

// String writes a strategy as [ParseStrategy] reads it.
func (s Strategy) String() string {
	var names []string
	for _, known := range strategies {
		if s&known.bit != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, ",")
}

// Error is a mistake in the description of a type.
type Error struct {
	// Path is the place in the description, as a JSON pointer; it may be empty.
	Path string
	// Reason is the kind of mistake.
	Reason Reason
	// Err describes the mistake.
	Err error
}

// Reason is the kind of mistake of an [Error].
type Reason uint8

const (
	// Malformed is a description that can't be read.
	Malformed Reason = iota
	// Missing is a kind or version that the description doesn't have.
	Missing
	// TooDeep is a description that is nested too deep.
	TooDeep
)

// Error returns the path and the text of Err.
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
