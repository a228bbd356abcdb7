package smp

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
)

// editor changes a document at places that are given by JSON pointers.
type editor struct {
	options
	root any
	// inPlace is true if nobody else uses the document. Otherwise each container on the path to a change is copied
	// once.
	inPlace bool
	// maps are the copied maps, by their addresses. lists are the copied lists, by the addresses of their first
	// elements. The addresses stay valid because the copies are kept here. An empty list is copied each time.
	maps  map[uintptr]map[string]any
	lists map[*any]bool
	// copied is the total size of the values that copy operations have copied, in bytes of JSON.
	copied int
	// tokens are the tokens of the current path; from are the tokens of the path to move or copy from.
	tokens, from []string
}

type changeKind uint8

const (
	add changeKind = iota
	remove
	replace
)

// find returns the value at tokens.
func (e *editor) find(tokens []string) (any, error) {
	node := e.root
	for _, token := range tokens {
		switch container := node.(type) {
		case map[string]any:
			child, found := container[token]
			if !found {
				return nil, noField(token)
			}
			node = child
		case []any:
			i, err := elementIndex(token, len(container))
			if err != nil {
				return nil, err
			}
			node = container[i]
		default:
			return nil, noContainer(token, node)
		}
	}
	return node, nil
}

// change makes a change at the place tokens. value is the value to add, or the replacement for another value.
func (e *editor) change(tokens []string, kind changeKind, value any) error {
	if len(tokens) == 0 {
		if kind == remove {
			return &PatchError{Kind: Invalid, Err: errors.New("the whole document can't be removed: replace it")}
		}
		e.root = value
		return nil
	}
	root, err := e.changed(e.root, tokens, kind, value)
	if err == nil {
		e.root = root
	}
	return err
}

// changed makes a change below the container node and returns the container. The result may be a copy of node, or a new
// slice for a list.
func (e *editor) changed(node any, tokens []string, kind changeKind, value any) (any, error) {
	switch container := node.(type) {
	case map[string]any:
		return e.changedMap(container, tokens, kind, value)
	case []any:
		return e.changedList(container, tokens, kind, value)
	default:
		return nil, noContainer(tokens[0], node)
	}
}

func (e *editor) changedMap(object map[string]any, tokens []string, kind changeKind, value any) (any, error) {
	key, last := tokens[0], len(tokens) == 1
	child, found := object[key]
	switch {
	case !found && (!last || kind != add):
		return nil, noField(key)
	case !last:
		var err error
		if value, err = e.changed(child, tokens[1:], kind, value); err != nil {
			return nil, err
		}
	}
	if object = e.ownMap(object); last && kind == remove {
		delete(object, key)
	} else {
		object[key] = value
	}
	return object, nil
}

func (e *editor) changedList(list []any, tokens []string, kind changeKind, value any) (any, error) {
	token, last := tokens[0], len(tokens) == 1
	adds := last && kind == add
	i, err := len(list), error(nil)
	switch {
	case adds && token == pastEnd:
	case adds:
		i, err = listIndex(token, len(list)+1)
	default:
		i, err = elementIndex(token, len(list))
	}
	if err == nil && !last {
		value, err = e.changed(list[i], tokens[1:], kind, value)
	}
	if err != nil {
		return nil, err
	}
	list = e.ownList(list)
	switch {
	case adds:
		list = slices.Insert(list, i, value)
	case last && kind == remove:
		list = slices.Delete(list, i, i+1)
	default:
		list[i] = value
	}
	return e.mark(list), nil
}

// ownMap returns a map to write to instead of object: object itself if it may be changed, otherwise a copy.
func (e *editor) ownMap(object map[string]any) map[string]any {
	if e.inPlace || e.maps[reflect.ValueOf(object).Pointer()] != nil {
		return object
	}
	own := maps.Clone(object)
	if own == nil {
		own = map[string]any{}
	}
	e.maps[reflect.ValueOf(own).Pointer()] = own
	return own
}

// ownList returns a list to write to instead of list: list itself if it may be changed, otherwise a copy.
func (e *editor) ownList(list []any) []any {
	if e.inPlace || len(list) > 0 && e.lists[&list[0]] {
		return list
	}
	return slices.Clone(list)
}

// mark remembers that a list may be changed from now on.
func (e *editor) mark(list []any) []any {
	if !e.inPlace && len(list) > 0 {
		e.lists[&list[0]] = true
	}
	return list
}

// elementIndex reads a token as the index of an element.
func elementIndex(token string, length int) (int, error) {
	if token == pastEnd {
		return 0, &PatchError{Kind: Conflict, Err: errors.New("there is nothing behind the end of a list")}
	}
	return listIndex(token, length)
}

func noField(name string) error {
	return &PatchError{Kind: Conflict, Err: fmt.Errorf("the document has no %q there", name)}
}

func noContainer(token string, node any) error {
	return &PatchError{Kind: Conflict, Err: fmt.Errorf("%q is below %s: want an object or a list", token, document.TypeName(node))}
}
