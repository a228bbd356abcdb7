package smp

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// editor changes a document at the places that pointers name.
type editor struct {
	options
	root any
	ours owned
	// cloneValues says that values of the patch have to be copied into the document.
	cloneValues bool
	// copied is how large the values are that were copied within the document, in bytes of JSON.
	copied int
	// tokens are those of the current path, from those of the other one.
	tokens, from []string
}

type changeKind uint8

const (
	add changeKind = iota
	remove
	replace
)

type change struct {
	kind  changeKind
	value any
}

// find returns what is at tokens.
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

// change makes a change at the current tokens.
func (e *editor) change(c change) (moved bool, err error) {
	if len(e.tokens) == 0 {
		if c.kind == remove {
			return false, &PatchError{Kind: Invalid, Err: errors.New("the whole document can't be removed: replace it")}
		}
		e.root = c.value
		return true, nil
	}
	root, moved, err := e.changeIn(e.root, e.tokens, c)
	if err == nil {
		e.root = root
	}
	return moved, err
}

// changeIn makes a change below a container and returns it; moved says that it is another one, which
// its parent has to take in its place.
func (e *editor) changeIn(node any, tokens []string, c change) (changed any, moved bool, err error) {
	switch container := node.(type) {
	case map[string]any:
		return e.changeInMap(container, tokens, c)
	case []any:
		return e.changeInList(container, tokens, c)
	default:
		return nil, false, noContainer(tokens[0], node)
	}
}

func (e *editor) changeInMap(object map[string]any, tokens []string, c change) (changed any, moved bool, err error) {
	key := tokens[0]
	child, found := object[key]
	last := len(tokens) == 1
	if !found && (!last || c.kind != add) {
		return nil, false, noField(key)
	}
	if !last {
		var childMoved bool
		if c.value, childMoved, err = e.changeIn(child, tokens[1:], c); err != nil {
			return nil, false, err
		}
		if !childMoved {
			// Whatever holds something of ours is ours.
			return object, false, nil
		}
	}
	object, moved = e.ours.object(object)
	if last && c.kind == remove {
		delete(object, key)
	} else {
		object[key] = c.value
	}
	return object, moved, nil
}

func (e *editor) changeInList(list []any, tokens []string, c change) (changed any, moved bool, err error) {
	if len(tokens) == 1 {
		return e.changeElement(list, tokens[0], c)
	}
	i, err := elementIndex(tokens[0], len(list))
	if err != nil {
		return nil, false, err
	}
	child, childMoved, err := e.changeIn(list[i], tokens[1:], c)
	if err != nil {
		return nil, false, err
	}
	if !childMoved {
		return list, false, nil
	}
	list, moved = e.ours.list(list)
	list[i] = child
	return list, moved, nil
}

func (e *editor) changeElement(list []any, token string, c change) (changed any, moved bool, err error) {
	if c.kind == add {
		i := len(list)
		if token != pastEnd {
			if i, err = listIndex(token, len(list)+1); err != nil {
				return nil, false, err
			}
		}
		return e.ours.insert(list, i, c.value), true, nil
	}
	i, err := elementIndex(token, len(list))
	if err != nil {
		return nil, false, err
	}
	list, moved = e.ours.list(list)
	if c.kind == remove {
		return slices.Delete(list, i, i+1), true, nil
	}
	list[i] = c.value
	return list, moved, nil
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
	return &PatchError{Kind: Conflict, Err: fmt.Errorf("%q leads into %s: want an object or a list", token, typeName(node))}
}

// owned knows which containers of a document may be written to: all of them, or, if marked is set,
// those that were copied to that end.
type owned struct {
	marked bool
	// maps are found by where they are. Being held here, none goes away and leaves its place to
	// another one.
	maps map[uintptr]map[string]any
	// lists are found by where their first element is. An empty one has none, and is soon copied.
	lists map[*any]struct{}
}

// object is a map to be written to in the place of m; moved says that it is another one.
func (o *owned) object(m map[string]any) (own map[string]any, moved bool) {
	if !o.marked {
		return m, false
	}
	if _, ours := o.maps[reflect.ValueOf(m).Pointer()]; ours {
		return m, false
	}
	if own = maps.Clone(m); own == nil {
		own = map[string]any{}
	}
	if o.maps == nil {
		o.maps = map[uintptr]map[string]any{}
	}
	o.maps[reflect.ValueOf(own).Pointer()] = own
	return own, true
}

// list is a list to be written to in the place of l; moved says that it is another one.
func (o *owned) list(l []any) (own []any, moved bool) {
	if !o.marked || o.holds(l) {
		return l, false
	}
	return o.mark(slices.Clone(l)), true
}

// insert is a list to be written to in the place of l, with a value in it before index i.
func (o *owned) insert(l []any, i int, value any) []any {
	if !o.marked {
		return slices.Insert(l, i, value)
	}
	if o.holds(l) {
		return o.mark(slices.Insert(l, i, value))
	}
	own := make([]any, len(l)+1)
	copy(own, l[:i])
	own[i] = value
	copy(own[i+1:], l[i:])
	return o.mark(own)
}

func (o *owned) holds(l []any) bool {
	if len(l) == 0 {
		return false
	}
	_, ours := o.lists[&l[0]]
	return ours
}

func (o *owned) mark(l []any) []any {
	if len(l) == 0 {
		return l
	}
	if o.lists == nil {
		o.lists = map[*any]struct{}{}
	}
	o.lists[&l[0]] = struct{}{}
	return l
}
