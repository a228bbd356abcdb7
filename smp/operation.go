package smp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/smp/internal/document"
)

// operation carries out the operation of a JSON patch at an index.
func (e *editor) operation(index int, members map[string]any) error {
	name, isString := members["op"].(string)
	if !isString {
		return &PatchError{Kind: Invalid, Err: fmt.Errorf("operation %d: op is missing or isn't a string", index)}
	}
	path, err := e.carryOut(name, members)
	if err == nil {
		return nil
	}
	var patchError *PatchError
	if !errors.As(err, &patchError) {
		patchError = &PatchError{Kind: Pointer, Err: err}
	}
	// The error has the whole path of the operation. That helps more than the place of the first part that is missing.
	return &PatchError{
		Path: path + patchError.Path, Kind: patchError.Kind,
		Err: fmt.Errorf("operation %d (%s): %w", index, name, patchError.Err),
	}
}

// carryOut carries out an operation. It also returns the path for an error.
func (e *editor) carryOut(name string, members map[string]any) (path string, err error) {
	switch name {
	case "add", "remove", "replace", "test", "move", "copy":
	default:
		return "", &PatchError{Kind: Invalid, Err: errors.New("unknown operation: want add, remove, replace, move, copy or test")}
	}
	path, isString := members["path"].(string)
	if !isString {
		return "", &PatchError{Kind: Invalid, Err: errors.New("path is missing or isn't a string")}
	}
	if e.tokens, err = parsePointer(e.tokens[:0], path); err != nil {
		return "", err
	}
	switch name {
	case "remove":
		err = e.change(e.tokens, remove, nil)
	case "move", "copy":
		return e.transfer(name, path, members)
	default:
		value, given := members["value"]
		if !given {
			return path, &PatchError{Kind: Invalid, Err: errors.New("value is missing: set it; null is a value too")}
		}
		err = e.put(name, value)
	}
	return path, err
}

// put carries out the operations that have a value: add, replace and test.
func (e *editor) put(name string, value any) error {
	if name == "test" {
		return e.test(value)
	}
	value, err := e.adopt(value)
	if err != nil {
		return err
	}
	kind := add
	if name == "replace" {
		kind = replace
	}
	return e.change(e.tokens, kind, value)
}

// test compares the value at the current tokens with want.
func (e *editor) test(want any) error {
	got, err := e.find(e.tokens)
	switch {
	case err != nil:
		return err
	case document.Equal(got, want):
		return nil
	case document.TypeName(got) != document.TypeName(want):
		return &PatchError{Kind: Test, Err: fmt.Errorf("want %s, the document has %s", document.TypeName(want), document.TypeName(got))}
	default:
		return &PatchError{Kind: Test, Err: fmt.Errorf("the document has %s with another value", document.TypeName(got))}
	}
}

// adopt returns a value of the patch for the document, to be put at the current tokens.
func (e *editor) adopt(value any) (any, error) {
	own := document.Plain
	if e.inPlace {
		own = document.Clone
	}
	value, err := own(value, e.limits.depth-len(e.tokens))
	if err != nil {
		return nil, notJSON(err, "")
	}
	return value, nil
}

// transfer carries out the operations that have a source: move and copy.
func (e *editor) transfer(name, path string, members map[string]any) (place string, err error) {
	from, isString := members["from"].(string)
	if !isString {
		return path, &PatchError{Kind: Invalid, Err: errors.New("from is missing or isn't a string")}
	}
	if e.from, err = parsePointer(e.from[:0], from); err != nil {
		return "", err
	}
	value, err := e.find(e.from)
	if err != nil {
		return from, err
	}
	if name == "copy" {
		return path, e.copy(value)
	}
	if path == from {
		return path, nil
	}
	if strings.HasPrefix(path, from+"/") {
		return path, &PatchError{Kind: Invalid, Err: fmt.Errorf("%q can't be moved into itself", from)}
	}
	if deeper := len(e.tokens) > len(e.from); deeper {
		if err := document.Check(value, e.limits.depth-len(e.tokens)); err != nil {
			return path, notJSON(err, "")
		}
	}
	if err := e.change(e.from, remove, nil); err != nil {
		return from, err
	}
	return path, e.change(e.tokens, add, value)
}

// copy puts a copy of value at the current tokens, so that later operations can change one of the two.
func (e *editor) copy(value any) error {
	clone, err := document.Clone(value, e.limits.depth-len(e.tokens))
	if err != nil {
		return notJSON(err, "")
	}
	if e.copied += document.Size(clone); e.copied > e.limits.bytes {
		return &PatchError{Kind: Limit, Err: fmt.Errorf("the values copied by the patch are larger than %d bytes", e.limits.bytes)}
	}
	return e.change(e.tokens, add, clone)
}
