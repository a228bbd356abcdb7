package smp

import (
	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// mergeScalars merges two lists of scalars into one without duplicates. Elements of the list order come in the order of
// that list. All elements are of one type. Without a patch all elements stay, duplicates included.
func (m *merger) mergeScalars(live, patch, order []any) ([]any, error) {
	l := m.borrow(len(live) + len(patch))
	defer m.giveBack()
	for _, value := range live {
		if id, _ := document.Scalar(value); patch == nil || !l.has(id) {
			l.add(id, value, true)
		}
	}
	for i, value := range patch {
		if id, _ := document.Scalar(value); !l.has(id) {
			m.enterElement(i)
			taken, err := m.takeScalar(value)
			if err != nil {
				return nil, err
			}
			m.leave()
			l.add(id, taken, false)
		}
	}
	for i, value := range order {
		id, _ := document.Scalar(value)
		l.name(id, i)
	}
	return l.arrange(), nil
}

// inOrder checks that the elements of a patch are in the order that its $setElementOrder sets.
func (m *merger) inOrder(patch, order []any) error {
	at := 0
	for i, value := range patch {
		id, _ := document.Scalar(value)
		for ; at < len(order); at++ {
			if other, _ := document.Scalar(order[at]); other == id {
				break
			}
		}
		if at == len(order) && at > 0 {
			m.enterElement(i)
			return m.fail(Invalid, "%s has to name the elements in the order of the patch: %s is missing or at another place", orderDirective, describe(id, nil))
		}
		at++
	}
	return nil
}

// removeScalars removes the elements that $deleteFromPrimitiveList names.
func (m *merger) removeScalars(out map[string]any, key string, remove any) error {
	if remove == nil {
		delete(out, key)
		return nil
	}
	live, isList := out[key].([]any)
	values, removesList := remove.([]any)
	if !isList || !removesList {
		return nil
	}
	kind, err := m.elementKind(schema.Place{}, live, values)
	if err != nil {
		return err
	}
	if kind == objects {
		return m.fail(Invalid, "%s: the elements are objects: mark each with %s: %s", deleteDirective, patchDirective, deleteElement)
	}
	l := m.borrow(len(live))
	defer m.giveBack()
	for _, value := range values {
		id, _ := document.Scalar(value)
		l.gone.add(id)
	}
	for _, value := range live {
		if id, _ := document.Scalar(value); l.gone.find(id) < 0 {
			l.add(id, value, true)
		}
	}
	out[key] = l.values()
	return nil
}
