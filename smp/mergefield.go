package smp

import "github.com/operkit/operkit/smp/internal/schema"

// mergeKey applies one key of a patch, which is a field or a directive, to out.
func (m *merger) mergeKey(out, patch map[string]any, key string, value any, directed bool, t *schema.Type) error {
	m.enter(key)
	in := instructions{value: value, hasValue: true}
	if directed {
		field, err := m.fieldOf(patch, key)
		if err != nil {
			return err
		}
		if field == "" && key != "" {
			m.leave()
			return nil
		}
		key, in = field, instructionsFor(patch, field)
		m.leave()
		m.enter(key)
	}
	if err := m.mergeField(out, key, in, t); err != nil {
		return err
	}
	m.leave()
	return nil
}

// fieldOf returns the field to merge when a key of a patch is visited. It returns an empty string if the field is
// merged at another key of the patch. If a patch has several keys about a field, the field is merged at the first of
// these: the field itself, its $setElementOrder, its $deleteFromPrimitiveList.
func (m *merger) fieldOf(patch map[string]any, key string) (field string, err error) {
	if !isDirective(key) {
		return key, nil
	}
	if key == retainKeysDirective {
		return "", nil
	}
	field, err = m.directed(key)
	if err != nil {
		return "", err
	}
	if m.noSchema {
		return "", m.fail(UnknownType, noSchemaAdvice)
	}
	order := orderDirective + "/" + field
	if _, ordered := patch[order]; ordered && key != order {
		return "", nil
	}
	if _, set := patch[field]; set {
		return "", nil
	}
	return field, nil
}

// directed returns the field that a directive about a list names. The current path is the path of the directive.
func (m *merger) directed(key string) (field string, err error) {
	for _, directive := range []string{orderDirective, deleteDirective} {
		if field, ok := directiveField(key, directive); ok {
			return field, nil
		}
	}
	return "", m.fail(Invalid, "malformed directive: want %s/<field> or %s/<field>", orderDirective, deleteDirective)
}

// mergeField applies all instructions of a patch about one field to out.
func (m *merger) mergeField(out map[string]any, key string, in instructions, t *schema.Type) error {
	current, exists := out[key]
	place, known := t.Field(key)
	if in.hasOrder || in.hasRemove {
		return m.mergeDirectedList(out, key, in, place, known, t)
	}
	if in.value == nil {
		delete(out, key)
		return nil
	}
	merged, both, err := m.mergeValues(current, in.value, place, known, t)
	if err == nil && !both {
		keep := false
		if merged, keep, err = m.take(in.value, 0); err == nil && !keep {
			if exists {
				delete(out, key)
			}
			return nil
		}
	}
	if err != nil {
		return err
	}
	out[key] = merged
	return nil
}

// mergeValues merges two maps or two lists; both is false for anything else.
func (m *merger) mergeValues(current, value any, place schema.Place, known bool, t *schema.Type) (merged any, both bool, err error) {
	switch value := value.(type) {
	case map[string]any:
		if currentMap, both := current.(map[string]any); both {
			if !known || !mergesAsMap(place.Type) {
				return nil, true, m.unknownField(t)
			}
			merged, err := m.mergeMaps(currentMap, value, place)
			return merged, true, err
		}
	case []any:
		if currentList, both := current.([]any); both {
			if !known || !m.mergesAsList(place.Type) {
				return nil, true, m.unknownField(t)
			}
			merged, err := m.mergeList(currentList, value, place)
			return merged, true, err
		}
	}
	return nil, false, nil
}

func (m *merger) mergeMaps(current, value map[string]any, place schema.Place) (map[string]any, error) {
	if _, directed := value[patchDirective]; !directed && place.Strategy&schema.Replace != 0 {
		return m.takeMap(value, 0)
	}
	return m.mergeMap(current, value, place.Type)
}

func (m *merger) unknownField(t *schema.Type) error {
	name := "this kind"
	if t != nil && t.Name != "" {
		name = t.Name
	}
	return m.fail(UnknownField, "%s has no field of this name and type: check both", name)
}

func mergesAsMap(t *schema.Type) bool {
	return t == nil || t.Shape == schema.Any || t.Shape == schema.Object || t.Shape == schema.Map
}

func (m *merger) mergesAsList(t *schema.Type) bool {
	return t == nil || t.Shape == schema.Any || t.Shape == schema.List || m.mode == Oper8
}
