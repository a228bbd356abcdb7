package smp

import (
	"math"
)

// taking is a set of options of take.
type taking uint8

// keepNulls keeps nulls. Where a patch merges, a null deletes a field. Where a patch replaces, a null is a value.
const keepNulls taking = 1 << 0

// take converts a value of the patch for a place where the document has nothing to merge with it. It drops nulls,
// directives, and elements marked for deletion. keep is false if nothing is left.
func (m *merger) take(value any, how taking) (taken any, keep bool, err error) {
	if m.plain(value, len(m.path), how) {
		return value, true, nil
	}
	switch value := value.(type) {
	case map[string]any:
		// A $patch of null has no effect, like other nulls.
		if directive := value[patchDirective]; directive != nil {
			if directive != replaceValue {
				return nil, false, nil
			}
			how |= keepNulls
		}
		taken, err = m.takeMap(value, how)
		return taken, true, err
	case []any:
		taken, err = m.takeList(value, how)
		return taken, true, err
	default:
		taken, err = m.takeScalar(value)
		return taken, true, err
	}
}

func (m *merger) takeMap(value map[string]any, how taking) (map[string]any, error) {
	if err := m.tooDeep(); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(value))
	err := m.each(value, func(key string, field any) error { return m.takeField(out, key, field, how) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// takeField converts a field of a patch and puts it into out.
func (m *merger) takeField(out map[string]any, key string, field any, how taking) error {
	if isDirective(key) {
		return m.droppedDirective(key)
	}
	if field == nil {
		if how&keepNulls != 0 {
			out[key] = nil
		}
		return nil
	}
	m.enter(key)
	taken, keep, err := m.take(field, how)
	if err != nil {
		return err
	}
	m.leave()
	if keep {
		out[key] = taken
	}
	return nil
}

func (m *merger) takeList(value []any, how taking) ([]any, error) {
	if err := m.tooDeep(); err != nil {
		return nil, err
	}
	out := make([]any, 0, len(value))
	for i, element := range value {
		object, _ := element.(map[string]any)
		m.enterElement(i)
		if directive := object[patchDirective]; directive != nil {
			if m.noSchema {
				return nil, m.fail(UnknownType, "%s in an element: %s", patchDirective, noSchemaAdvice)
			}
			if !m.marksElement(directive) {
				m.leave()
				continue
			}
			element = withoutMark(object)
		}
		taken, _, err := m.take(element, how)
		if err != nil {
			return nil, err
		}
		m.leave()
		out = append(out, taken)
	}
	return out, nil
}

// noSchemaAdvice is the advice in errors about directives for the lists of an unknown kind.
const noSchemaAdvice = "it isn't known how the lists of this kind merge: give a schema, or replace the list"

// droppedDirective returns an error if a directive in a new value isn't valid.
func (m *merger) droppedDirective(key string) error {
	if key == patchDirective || key == retainKeysDirective {
		return nil
	}
	m.enter(key)
	if _, err := m.directed(key); err != nil {
		return err
	}
	if m.noSchema {
		return m.fail(UnknownType, noSchemaAdvice)
	}
	m.leave()
	return nil
}

// marksElement reports whether a $patch concerns only its own element, and the element stays.
func (m *merger) marksElement(directive any) bool {
	return m.mode == Oper8 && (directive == replaceValue || directive == mergeValue)
}

// takeScalar returns an error for a value that isn't JSON, and converts Go's other numbers to int64 and float64.
func (m *merger) takeScalar(value any) (any, error) {
	switch value.(type) {
	case nil, bool, string, int64:
		return value, nil
	default:
		return m.clone(value)
	}
}

// tooDeep returns an error if a value at the path would be nested deeper than allowed.
func (m *merger) tooDeep() error {
	if len(m.path) < m.limits.depth {
		return nil
	}
	return m.fail(Limit, "nested deeper than %d levels", m.limits.depth)
}

// plain reports whether a value of the patch can be put into the document unchanged. If it returns false, take examines
// the value.
func (m *merger) plain(value any, depth int, how taking) bool {
	switch value := value.(type) {
	case bool, string, int64:
		return true
	case float64:
		return !math.IsNaN(value) && !math.IsInf(value, 0)
	case map[string]any:
		if value == nil || depth >= m.limits.depth {
			return false
		}
		for key, field := range value {
			if isDirective(key) || field == nil && how&keepNulls == 0 || field != nil && !m.plain(field, depth+1, how) {
				return false
			}
		}
		return true
	case []any:
		if value == nil || depth >= m.limits.depth {
			return false
		}
		for _, element := range value {
			if element != nil && !m.plain(element, depth+1, how) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
