package smp

import (
	"math"
)

// taking says how a value of a patch becomes one of the document.
type taking uint8

// keepNulls keeps nulls, which delete where the patch would merge: what is told to replace
// something is meant literally.
const keepNulls taking = 1 << 0

// take is what a value of the patch becomes where the document has nothing to merge it with: itself
// without nulls, without directives and without what is marked for deletion. keep
// is false where nothing of it is left.
func (m *merger) take(value any, how taking) (taken any, keep bool, err error) {
	if m.plain(value, len(m.path), how) {
		return value, true, nil
	}
	switch value := value.(type) {
	case map[string]any:
		// A null says nothing here either.
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

// takeField puts into out what a field of a patch becomes.
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
			if m.listless {
				return nil, m.fail(UnknownType, "%s in an element: %s", patchDirective, listlessAdvice)
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

// listlessAdvice is what to do about a directive that concerns a list of an unknown kind.
const listlessAdvice = "nothing is known of the lists of this kind: give a schema, or replace the list"

// droppedDirective is the error, if it is one, of a directive in what is new.
func (m *merger) droppedDirective(key string) error {
	if key == patchDirective || key == retainKeysDirective {
		return nil
	}
	m.enter(key)
	if _, err := m.directed(key); err != nil {
		return err
	}
	if m.listless {
		return m.fail(UnknownType, listlessAdvice)
	}
	m.leave()
	return nil
}

// marksElement tells of a $patch whether it is about its own element only, which stays.
func (m *merger) marksElement(directive any) bool {
	return m.mode == Oper8 && (directive == replaceValue || directive == mergeValue)
}

// takeScalar refuses what isn't JSON, and makes int64 and float64 of Go's other numbers.
func (m *merger) takeScalar(value any) (any, error) {
	switch value.(type) {
	case nil, bool, string, int64:
		return value, nil
	default:
		return m.clone(value)
	}
}

// tooDeep is an error when what is at the path would be nested deeper than allowed.
func (m *merger) tooDeep() error {
	if len(m.path) < m.limits.depth {
		return nil
	}
	return m.fail(Limit, "nested deeper than %d levels", m.limits.depth)
}

// plain reports whether the document may hold a value of the patch as it is. It returns false for what
// has to be looked at more closely, for whatever reason.
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
