package smp

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// examine checks a patch in the mode Strict. It refuses parts that would silently do nothing, would be dropped, or are
// ambiguous. doc is the map that the patch is merged with, or nil. examine leaves out checks that merging makes anyway.
func (m *merger) examine(doc, patch map[string]any, t *schema.Type) error {
	if err := m.tooDeep(); err != nil {
		return err
	}
	switch mark, marked := patch[patchDirective]; {
	case marked && mark == deleteElement:
		return m.examineDeletion(doc, patch)
	case marked && mark == replaceValue:
		doc = nil
	case marked && mark != nil:
		return m.fail(Invalid, "%s is %s: want %q or %q", patchDirective, quoted(mark), replaceValue, deleteElement)
	}
	if err := m.examineRetained(patch, t); err != nil {
		return err
	}
	for _, key := range slices.Sorted(maps.Keys(patch)) {
		if key == patchDirective || key == retainKeysDirective {
			continue
		}
		m.enter(key)
		if err := m.examineKey(doc, patch, key, t); err != nil {
			return err
		}
		m.leave()
	}
	return nil
}

func (m *merger) examineDeletion(doc, patch map[string]any) error {
	switch {
	case doc == nil:
		return m.fail(Conflict, "there is nothing to delete")
	case len(patch) > 1:
		return m.fail(Invalid, "%s: %s deletes the whole map: leave the other fields out", patchDirective, deleteElement)
	}
	return nil
}

// examineRetained checks that the fields that $retainKeys lists exist. A field with a misspelt name would be lost.
func (m *merger) examineRetained(patch map[string]any, t *schema.Type) error {
	if _, err := m.retain(map[string]any{}, patch); err != nil {
		return err
	}
	names, _ := patch[retainKeysDirective].([]any)
	for i, name := range names {
		if _, known := t.Field(name.(string)); !known {
			m.enter(retainKeysDirective)
			m.enterElement(i)
			return m.unknownField(t)
		}
	}
	return nil
}

func (m *merger) examineKey(doc, patch map[string]any, key string, t *schema.Type) error {
	if isDirective(key) {
		return m.examineDirective(doc, patch, key)
	}
	if len(key) > 0 && key[0] == '$' {
		return m.fail(Invalid, "unknown directive: there are %s, %s, %s/<field> and %s/<field>",
			patchDirective, retainKeysDirective, orderDirective, deleteDirective)
	}
	place, known := t.Field(key)
	if !known {
		return m.unknownField(t)
	}
	switch value := patch[key].(type) {
	case map[string]any:
		live, _ := doc[key].(map[string]any)
		if place.Strategy&schema.Replace != 0 && value[patchDirective] == nil {
			live = nil
		}
		return m.examine(live, value, place.Type)
	case []any:
		live, _ := doc[key].([]any)
		if place.Strategy&schema.Merge == 0 || len(place.Keys) == 0 {
			live = nil
		}
		return m.examineList(live, value, place)
	default:
		return nil
	}
}

// examineDirective checks that the list of a directive exists.
func (m *merger) examineDirective(doc, patch map[string]any, key string) error {
	field, err := m.directed(key)
	if err != nil || m.noSchema {
		return err
	}
	live, isList := doc[field].([]any)
	if _, ordered := directiveField(key, orderDirective); ordered {
		if _, set := patch[field].([]any); !set && !isList {
			return m.fail(Conflict, "there is no list to put in order")
		}
		return nil
	}
	values, removesList := patch[key].([]any)
	switch {
	case !removesList:
		return m.fail(Invalid, "want a list, not %s", document.TypeName(patch[key]))
	case !isList:
		return m.fail(Conflict, "there is no list to remove from")
	}
	var there index
	for _, value := range live {
		id, _ := document.Scalar(value)
		there.add(id)
	}
	for i, value := range values {
		if id, isScalar := document.Scalar(value); isScalar && there.find(id) < 0 {
			m.enterElement(i)
			return m.fail(Conflict, "there is no element %s to remove", describe(id, nil))
		}
	}
	return nil
}

// examineList checks the elements of a list of a patch; live is the document's list.
func (m *merger) examineList(live, patch []any, place schema.Place) error {
	var there, said index
	repeated := make([]bool, len(live))
	for i, value := range live {
		object, _ := value.(map[string]any)
		id, _, _ := identify(object, place.Keys)
		first := there.add(id)
		repeated[first] = first != i
	}
	for i, value := range patch {
		object, isMap := value.(map[string]any)
		if !isMap {
			continue
		}
		id, _, identified := identify(object, place.Keys)
		identified = identified && len(place.Keys) > 0
		at := -1
		if identified {
			at = there.find(id)
		}
		m.enterElement(i)
		if err := m.examineElement(object, place, identified, at); err != nil {
			return err
		}
		switch {
		case at >= 0 && repeated[at]:
			return m.fail(Conflict, "the document holds several elements %s: it is ambiguous which one is meant", describe(id, place.Keys))
		case identified && place.Strategy&schema.Merge != 0 && said.add(id) != len(said.ids)-1:
			return m.fail(Invalid, "the patch has the element %s twice: put all its fields into one element", describe(id, place.Keys))
		}
		if object[patchDirective] == nil {
			var current map[string]any
			if at >= 0 {
				current, _ = live[at].(map[string]any)
			}
			if err := m.examine(current, object, place.Type.Elements()); err != nil {
				return err
			}
		}
		m.leave()
	}
	return nil
}

// examineElement checks the other fields of an element that has a $patch. at is the index in the document's list of the
// element with the same key, -1 if there is none.
func (m *merger) examineElement(object map[string]any, place schema.Place, identified bool, at int) error {
	mark := object[patchDirective]
	if mark == nil {
		return nil
	}
	said := len(object) - 1
	switch {
	case mark == replaceValue && said > 0:
		return m.fail(Invalid, "%s: %s replaces the whole list, and this element is dropped: leave its other fields out", patchDirective, replaceValue)
	case mark == deleteElement && identified && said > len(place.Keys):
		return m.fail(Invalid, "%s: %s deletes the element: leave out all fields except its key", patchDirective, deleteElement)
	case mark == deleteElement && identified && at < 0:
		id, _, _ := identify(object, place.Keys)
		return m.fail(Conflict, "there is no element %s to delete", describe(id, place.Keys))
	}
	return nil
}
