package smp

import "github.com/operkit/operkit/smp/internal/schema"

// orderObjects puts a list in the order that the patch asks for that the document doesn't have. Its
// elements are taken as they are, those with the same key too.
func (m *merger) orderObjects(patch, order []any, place schema.Place) ([]any, error) {
	l := m.borrow(len(patch))
	defer m.giveBack()
	for i, value := range patch {
		object := value.(map[string]any)
		if directive := object[patchDirective]; directive != nil {
			if !m.marksOne(directive) {
				continue
			}
		}
		e, err := m.element(i, object, place)
		if err != nil {
			return nil, err
		}
		l.plain = append(l.plain, e)
	}
	if err := m.takeObjects(l, 0); err != nil {
		return nil, err
	}
	if err := m.rank(l, order, place); err != nil {
		return nil, err
	}
	return l.arrange(), nil
}

// rank gives the entries of l their places: those of an order that the patch sets, otherwise those
// that its elements have. The plain elements of the patch have to be among an order, one after the
// other (spec: smp 18).
func (m *merger) rank(l *arrangement, order []any, place schema.Place) error {
	if order == nil {
		for i, e := range l.plain {
			l.name(e.id, i)
		}
		return nil
	}
	plain := l.plain
	for i, value := range order {
		object, _ := value.(map[string]any)
		id, missing, found := identify(object, place.Keys)
		if !found {
			m.enterElement(i)
			return m.fail(Invalid, "%s: the element has no %q that could be compared: want the keys of the elements", orderDirective, missing)
		}
		l.name(id, i)
		if len(plain) > 0 && plain[0].id == id {
			plain = plain[1:]
		}
	}
	if len(order) > 0 && len(plain) > 0 {
		m.enterElement(plain[0].index)
		return m.fail(Invalid, "%s lacks the element %s, or has it in another order", orderDirective, describe(plain[0].id, place.Keys))
	}
	return nil
}
