package smp

import "github.com/operkit/operkit/smp/internal/schema"

// mergeKey applies one key of a patch to out, a field or a directive.
func (m *merger) mergeKey(out, patch map[string]any, key string, value any, directed bool, t *schema.Type) error {
	in := instructions{value: value, hasValue: true}
	if directed {
		if isDirective(key) {
			field, err := m.directed(patch, key)
			if field == "" || err != nil {
				return err
			}
			key = field
		}
		in = instructionsFor(patch, key)
	}
	m.enter(key)
	if err := m.knownDirective(key); err != nil {
		return err
	}
	if err := m.mergeField(out, key, in, t); err != nil {
		return err
	}
	m.leave()
	return nil
}

// directed returns the field that a directive is about, or none where another key of the patch
// deals with it: a field's value goes first, then its order, then what is removed from it.
func (m *merger) directed(patch map[string]any, key string) (string, error) {
	if key == retainKeysDirective {
		return "", nil
	}
	field, ordered := directiveField(key, orderDirective)
	if !ordered {
		var removed bool
		if field, removed = directiveField(key, deleteDirective); !removed {
			m.enter(key)
			return "", m.fail(Invalid, "malformed directive: want %s/<field> or %s/<field>", orderDirective, deleteDirective)
		}
		if _, found := patch[orderDirective+"/"+field]; found {
			return "", nil
		}
	}
	if m.listless {
		m.enter(key)
		return "", m.listlessDirective()
	}
	if _, found := patch[field]; found {
		return "", nil
	}
	return field, nil
}

// knownDirective refuses, in the mode Strict, a field that looks like a directive and is none. The
// path is at the field.
func (m *merger) knownDirective(key string) error {
	if m.mode != Strict || len(key) == 0 || key[0] != '$' {
		return nil
	}
	return m.fail(Invalid, "unknown directive: there are %s, %s, %s/<field> and %s/<field>",
		patchDirective, retainKeysDirective, orderDirective, deleteDirective)
}

// mergeField applies what a patch says about one field to out.
func (m *merger) mergeField(out map[string]any, key string, in instructions, t *schema.Type) error {
	current, exists := out[key]
	place, known := t.Field(key)
	if m.mode == Strict && !known {
		return m.unknownField(t)
	}
	if in.hasOrder || in.hasRemove {
		return m.mergeDirectedList(out, key, in, place, known, t)
	}
	if in.value == nil {
		delete(out, key)
		return nil
	}
	switch value := in.value.(type) {
	case map[string]any:
		if currentMap, both := current.(map[string]any); both {
			if !known || !mergesAsMap(place.Type) {
				return m.unknownField(t)
			}
			merged, err := m.mergeMaps(currentMap, value, place)
			if err != nil {
				return err
			}
			out[key] = merged
			return nil
		}
	case []any:
		if currentList, both := current.([]any); both {
			if !known || !m.mergesAsList(place.Type) {
				return m.unknownField(t)
			}
			merged, err := m.mergeList(currentList, value, place)
			if err != nil {
				return err
			}
			out[key] = merged
			return nil
		}
	}
	taken, keep, err := m.take(in.value, place.Type, 0)
	switch {
	case err != nil:
		return err
	case keep:
		out[key] = taken
	case exists:
		delete(out, key)
	}
	return nil
}

func (m *merger) mergeMaps(current, value map[string]any, place schema.Place) (map[string]any, error) {
	if _, directed := value[patchDirective]; !directed && place.Strategy&schema.Replace != 0 {
		return m.takeMap(value, place.Type, 0)
	}
	return m.mergeMap(current, value, place.Type)
}

func (m *merger) unknownField(t *schema.Type) error {
	name := "this kind"
	if t != nil && t.Name != "" {
		name = t.Name
	}
	return m.fail(UnknownField, "%s has no such field that could be merged: see its name and its type", name)
}

func mergesAsMap(t *schema.Type) bool {
	return t == nil || t.Shape == schema.Any || t.Shape == schema.Object || t.Shape == schema.Map
}

func (m *merger) mergesAsList(t *schema.Type) bool {
	return t == nil || t.Shape == schema.Any || t.Shape == schema.List || m.mode == Oper8
}
