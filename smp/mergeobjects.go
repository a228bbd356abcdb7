package smp

import (
	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// mergeObjects merges a list of objects by their keys. order is the $setElementOrder of the patch, nil for none. The
// comment of arrangement explains the order of the result.
func (m *merger) mergeObjects(live, patch, order []any, place schema.Place) ([]any, error) {
	if len(place.Keys) == 0 {
		return nil, m.fail(Invalid, "the schema names no key for the elements of this list: replace the list")
	}
	l := m.borrow(len(live) + len(patch))
	defer m.giveBack()
	replace, err := m.split(l, patch, place)
	if err != nil {
		return nil, err
	}
	switch {
	case m.mode == Oper8:
		err = m.mergeInPlace(l, live, place)
	case replace:
		err = m.takeObjects(l, keepNulls)
	default:
		if err = m.keepObjects(l, live, place); err == nil {
			if order != nil {
				l.slots = len(live) - len(l.entries)
			}
			err = m.applyObjects(l, place)
		}
	}
	if err != nil {
		return nil, err
	}
	if order == nil && m.mode == Oper8 {
		return l.values(), nil
	}
	if err := m.rank(l, order, place); err != nil {
		return nil, err
	}
	return l.arrange(), nil
}

// element returns an element of a patch together with its identity.
func (m *merger) element(i int, object map[string]any, place schema.Place) (element, error) {
	id, missing, found := identify(object, place.Keys)
	if !found {
		m.enterElement(i)
		return element{}, m.fail(Invalid, "the element has no scalar %q, the key of the list: set it", missing)
	}
	return element{id: id, object: object, index: i}, nil
}

// split puts the elements of a patch into l: elements with $patch: delete into deleted, all others into plain. It
// reports whether an element has $patch: replace, which replaces the list.
func (m *merger) split(l *arrangement, patch []any, place schema.Place) (replace bool, err error) {
	for i, value := range patch {
		object, isMap := value.(map[string]any)
		if !isMap {
			m.enterElement(i)
			return false, m.fail(Invalid, "%s in a list of objects", document.TypeName(value))
		}
		directive, marked := object[patchDirective]
		marked = marked && !m.marksElement(directive)
		if marked && directive == replaceValue {
			replace = true
			continue
		}
		if marked && directive != deleteElement {
			m.enterElement(i)
			return false, m.fail(Invalid, "%s is %s in an element: want %q or %q", patchDirective, quoted(directive), deleteElement, replaceValue)
		}
		e, err := m.element(i, object, place)
		if err != nil {
			return false, err
		}
		if marked {
			l.deleted = append(l.deleted, e)
			l.gone.add(e.id)
		} else {
			l.plain = append(l.plain, e)
		}
	}
	return replace, nil
}

// takeObjects fills l with only the elements of a patch.
func (m *merger) takeObjects(l *arrangement, how taking) error {
	for _, e := range l.plain {
		taken, err := m.takeElement(e, how)
		if err != nil {
			return err
		}
		l.add(e.id, taken, true)
	}
	return nil
}

// takeElement returns an element of a patch as the document stores it.
func (m *merger) takeElement(e element, how taking) (any, error) {
	m.enterElement(e.index)
	taken, _, err := m.take(withoutMark(e.object), how)
	if err != nil {
		return nil, err
	}
	m.leave()
	return taken, nil
}

// keepObjects fills l with the document's elements that aren't deleted.
func (m *merger) keepObjects(l *arrangement, live []any, place schema.Place) error {
	for i, value := range live {
		object, _ := value.(map[string]any)
		id, missing, found := identify(object, place.Keys)
		if !found {
			m.enterElement(i)
			return m.fail(Conflict, "the element has no scalar %q, the key of the list", missing)
		}
		if len(l.deleted) == 0 || l.gone.find(id) < 0 {
			l.add(id, value, true)
			l.entries[len(l.entries)-1].index = int32(i)
		}
	}
	return nil
}

// applyObjects merges the elements of a patch into the entries of l.
func (m *merger) applyObjects(l *arrangement, place schema.Place) error {
	for _, e := range l.plain {
		at := l.known.find(e.id)
		if at < 0 {
			taken, err := m.takeElement(e, 0)
			if err != nil {
				return err
			}
			l.addNew(e.id, taken)
			continue
		}
		m.enterElement(int(l.entries[at].index))
		current := l.entries[at].value.(map[string]any)
		merged, err := m.mergeMap(current, withoutMark(e.object), place.Type.Elements())
		if err != nil {
			return err
		}
		m.leave()
		l.entries[at].value = merged
	}
	return nil
}

// orderObjects handles a list that is only in the patch. It sorts the list in the order that the patch asks for.
// Elements aren't merged, not even those with the same key.
func (m *merger) orderObjects(patch, order []any, place schema.Place) ([]any, error) {
	l := m.borrow(len(patch))
	defer m.giveBack()
	for i, value := range patch {
		object := value.(map[string]any)
		if directive := object[patchDirective]; directive != nil {
			if !m.marksElement(directive) {
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

// rank ranks the entries of l by the $setElementOrder of the patch, or without one by the patch's elements. order has
// to contain the patch's plain elements, in the same sequence.
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
			return m.fail(Invalid, "%s: the element has no scalar %q, the key of the list: set it", orderDirective, missing)
		}
		l.name(id, i)
		if len(plain) > 0 && plain[0].id == id {
			plain = plain[1:]
		}
	}
	if len(order) > 0 && len(plain) > 0 {
		m.enterElement(plain[0].index)
		return m.fail(Invalid, "%s has to name the elements in the order of the patch: %s is missing or at another place", orderDirective, describe(plain[0].id, place.Keys))
	}
	return nil
}
