package smp

import (
	"math"

	"github.com/operkit/operkit/smp/internal/schema"
)

// taking says how a value of a patch becomes one of the document.
type taking uint8

// keepNulls keeps nulls, which delete where the patch would merge: what is told to replace
// something is meant literally.
const keepNulls taking = 1 << 0

// take is what a value of the patch becomes where the document has nothing to merge it with: itself
// without nulls, without directives and without what is marked for deletion (spec: smp 13, 15). keep
// is false where nothing of it is left. t is its type, if known.
func (m *merger) take(value any, t *schema.Type, how taking) (taken any, keep bool, err error) {
	if m.shared && m.mode != Strict && m.plain(value, len(m.path), how) {
		return value, true, nil
	}
	switch value := value.(type) {
	case map[string]any:
		// A null says nothing here either.
		if directive := value[patchDirective]; directive != nil {
			if directive != replaceValue {
				return nil, false, m.dropped(directive)
			}
			how |= keepNulls
		}
		taken, err = m.takeMap(value, t, how)
		return taken, true, err
	case []any:
		taken, err = m.takeList(value, t, how)
		return taken, true, err
	default:
		taken, err = m.takeScalar(value)
		return taken, true, err
	}
}

// dropped is the error, if it is one, of a new map that is marked with $patch.
func (m *merger) dropped(directive any) error {
	switch {
	case m.mode != Strict:
		return nil
	case directive == deleteElement:
		return m.fail(Conflict, "there is nothing to delete")
	default:
		return m.fail(Invalid, "%s is %v: want %q or %q", patchDirective, directive, replaceValue, deleteElement)
	}
}

func (m *merger) takeMap(value map[string]any, t *schema.Type, how taking) (map[string]any, error) {
	if len(m.path) > m.limits.depth {
		return nil, m.fail(Limit, "the patch is nested deeper than %d levels", m.limits.depth)
	}
	out := make(map[string]any, len(value))
	for key, field := range value {
		if isDirective(key) {
			if err := m.droppedDirective(key); err != nil {
				return nil, err
			}
			continue
		}
		if field == nil {
			if how&keepNulls != 0 {
				out[key] = nil
			}
			continue
		}
		m.enter(key)
		var place schema.Place
		if m.mode == Strict {
			if err := m.knownDirective(key); err != nil {
				return nil, err
			}
			known := false
			if place, known = t.Field(key); !known {
				return nil, m.unknownField(t)
			}
		}
		taken, keep, err := m.take(field, place.Type, how)
		if err != nil {
			return nil, err
		}
		if keep {
			out[key] = taken
		}
		m.leave()
	}
	return out, nil
}

func (m *merger) takeList(value []any, t *schema.Type, how taking) ([]any, error) {
	if len(m.path) > m.limits.depth {
		return nil, m.fail(Limit, "the patch is nested deeper than %d levels", m.limits.depth)
	}
	elements := t.Elements()
	out := make([]any, 0, len(value))
	for i, element := range value {
		object, _ := element.(map[string]any)
		if directive := object[patchDirective]; directive != nil {
			if err := m.droppedElement(i, directive); err != nil {
				return nil, err
			}
			if !m.marksOne(directive) {
				continue
			}
			element = withoutMark(object)
		}
		m.enterElement(i)
		taken, _, err := m.take(element, elements, how)
		if err != nil {
			return nil, err
		}
		m.leave()
		out = append(out, taken)
	}
	return out, nil
}

// droppedDirective is the error, if it is one, of a directive in what is new.
func (m *merger) droppedDirective(key string) error {
	if !m.listless || key == patchDirective || key == retainKeysDirective {
		return nil
	}
	m.enter(key)
	return m.listlessDirective()
}

// listlessDirective is the error of a directive about a list of a kind whose lists aren't known.
func (m *merger) listlessDirective() error {
	return m.fail(UnknownType, "nothing is known of the lists of this kind: give a schema, or replace the list")
}

// droppedElement is the error, if it is one, of an element of a new list that is marked with $patch.
func (m *merger) droppedElement(i int, directive any) error {
	if !m.listless && (m.mode != Strict || directive == replaceValue) {
		return nil
	}
	m.enterElement(i)
	if m.listless {
		return m.fail(UnknownType, "%s in an element: nothing is known of the lists of this kind: give a schema", patchDirective)
	}
	return m.dropped(directive)
}

// marksOne tells of a $patch whether it is about its own element only, which stays.
func (m *merger) marksOne(directive any) bool {
	return m.mode == Oper8 && (directive == replaceValue || directive == mergeValue)
}

// takeScalar refuses what isn't JSON, and makes int64 and float64 of Go's other numbers.
func (m *merger) takeScalar(value any) (any, error) {
	switch value := value.(type) {
	case nil, bool, string, int64:
		return value, nil
	case float64:
		if math.IsNaN(value) || math.IsInf(value, 0) {
			return nil, m.fail(Document, "%v isn't a number of JSON", value)
		}
		return value, nil
	default:
		return m.clone(value)
	}
}

// plain tells whether the document may hold a value of the patch as it is. It answers false for what
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
