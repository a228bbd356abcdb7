package smp

import (
	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// mergeList applies the list of a patch to the list in the document: it merges or replaces it.
func (m *merger) mergeList(live, patch []any, place schema.Place) ([]any, error) {
	if place.Strategy&schema.Merge == 0 {
		return m.replaceList(patch, place)
	}
	if len(live) == 0 && len(patch) == 0 {
		return []any{}, nil
	}
	kind, err := m.elementKind(place, live, patch)
	if err != nil {
		return nil, err
	}
	if kind == objects {
		return m.mergeObjects(live, patch, nil, place)
	}
	return m.mergeScalars(live, patch, patch)
}

// replaceList returns the list of a patch for a list that doesn't merge. The only directive that its elements may have
// is $patch: replace.
func (m *merger) replaceList(patch []any, place schema.Place) ([]any, error) {
	for i, element := range patch {
		object, _ := element.(map[string]any)
		if directive, found := object[patchDirective]; found && (directive != replaceValue || m.noSchema) {
			m.enterElement(i)
			if m.noSchema {
				return nil, m.fail(UnknownType, "%s in an element: %s", patchDirective, noSchemaAdvice)
			}
			return nil, m.fail(Invalid, "%s in an element of a list that is replaced as a whole: give the whole list", patchDirective)
		}
	}
	taken, _, err := m.take(patch, 0)
	if err != nil {
		return nil, err
	}
	return taken.([]any), nil
}

// mergeDirectedList applies a list of a patch together with the directives about it.
func (m *merger) mergeDirectedList(out map[string]any, key string, in instructions, place schema.Place, known bool, t *schema.Type) error {
	_, isList := out[key].([]any)
	if (isList || in.hasOrder) && (!known || !m.mergesAsList(place.Type)) {
		return m.unknownField(t)
	}
	if in.hasOrder {
		if err := m.mergeOrdered(out, key, in, place); err != nil {
			return err
		}
	} else if in.hasValue {
		if err := m.mergeField(out, key, instructions{value: in.value, hasValue: true}, t); err != nil {
			return err
		}
	}
	if !in.hasRemove {
		return nil
	}
	return m.removeScalars(out, key, in.remove)
}

// mergeOrdered applies a list together with its $setElementOrder.
func (m *merger) mergeOrdered(out map[string]any, key string, in instructions, place schema.Place) error {
	order, isList := in.order.([]any)
	if !isList {
		return m.fail(Invalid, "%s: want a list, not %s", orderDirective, document.TypeName(in.order))
	}
	current, exists := out[key]
	live, isList := current.([]any)
	if exists && !isList {
		return m.fail(Conflict, "%s: the document holds %s: want a list", orderDirective, document.TypeName(current))
	}
	patch, isList := in.value.([]any)
	if in.hasValue && !isList {
		return m.fail(Invalid, "%s: the patch sets %s: want a list", orderDirective, document.TypeName(in.value))
	}
	if !exists && !in.hasValue {
		return nil
	}
	kind, err := m.elementKind(place, live, patch, order)
	if err != nil {
		return err
	}
	var merged []any
	switch {
	case kind == nothing:
		merged = []any{}
	case kind == objects && len(place.Keys) == 0:
		err = m.fail(Invalid, "%s: the schema names no key for the elements of this list: replace the list", orderDirective)
	case kind == objects && !exists:
		merged, err = m.orderObjects(patch, order, place)
	case kind == objects:
		merged, err = m.mergeObjects(live, patch, order, place)
	case in.hasValue && (!exists || place.Strategy&schema.Merge == 0):
		if err = m.inOrder(patch, order); err == nil {
			if patch, err = m.takeList(patch, 0); err == nil {
				merged, err = m.mergeScalars(patch, nil, order)
			}
		}
	default:
		if err = m.inOrder(patch, order); err == nil {
			merged, err = m.mergeScalars(live, patch, order)
		}
	}
	if err != nil {
		return err
	}
	out[key] = merged
	return nil
}

// elementKinds is the kind of all elements of a merged list.
type elementKinds uint8

const (
	nothing elementKinds = iota
	objects
	texts
	numbers
	booleans
)

// elementKind returns the kind that all elements of some lists have. It returns an error if elements differ in kind, if
// an element is a list or null, or if the list merges by a key and an element isn't an object.
func (m *merger) elementKind(place schema.Place, lists ...[]any) (elementKinds, error) {
	kind := nothing
	for _, list := range lists {
		for i, element := range list {
			k := kindOfElement(element)
			if k == nothing {
				m.enterElement(i)
				return nothing, m.fail(Conflict, "%s in a list that merges: want an object or a scalar", document.TypeName(element))
			}
			if k != objects && len(place.Keys) > 0 {
				m.enterElement(i)
				return nothing, m.fail(Conflict, "%s in a list whose elements have the key %q: want an object", document.TypeName(element), place.Keys[0].Name)
			}
			if kind != nothing && k != kind {
				m.enterElement(i)
				return nothing, m.fail(Conflict, "%s in a list that merges and has elements of another type: want elements of one type", document.TypeName(element))
			}
			kind = k
		}
	}
	return kind, nil
}

func kindOfElement(element any) elementKinds {
	switch element.(type) {
	case map[string]any:
		return objects
	case string:
		return texts
	case bool:
		return booleans
	case nil, []any:
		return nothing
	default:
		if _, isNumber := document.Scalar(element); isNumber {
			return numbers
		}
		return nothing
	}
}
