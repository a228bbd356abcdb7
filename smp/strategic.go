package smp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/operkit/operkit/smp/internal/schema"
)

// Strategic applies a strategic merge patch to a document and returns the same result as the API server. The schema has
// to be the schema of the document's kind. If the schema isn't known (see [Schema.Known]), maps merge and lists are
// replaced, as by [Merge].
//
// A null in the patch deletes a field. A map merges. A list merges by its keys if the schema has keys for it, and is
// replaced otherwise. $patch, $retainKeys, $setElementOrder and $deleteFromPrimitiveList are applied, and never appear
// in the result. A nil patch changes nothing. A nil document is an empty document.
//
// Neither the document nor the patch is changed, and the result shares nothing with them unless [Shared] is given.
// Errors are [*PatchError]; with an error the result is nil.
func Strategic(doc, patch map[string]any, schema Schema, opts ...Option) (map[string]any, error) {
	return call(doc, opts, func(o options) (map[string]any, error) { return strategic(doc, patch, schema, o) })
}

func strategic(doc, patch map[string]any, schema Schema, o options) (map[string]any, error) {
	root, err := mergeType(doc, schema, o)
	if err != nil {
		return nil, err
	}
	m := mergers.Get().(*merger)
	defer m.retire()
	m.options, m.noSchema = o, o.mode != Oper8 && !schema.Known()
	if o.mode == Strict {
		if err := m.examine(doc, patch, root); err != nil {
			return nil, err
		}
	}
	out, err := m.mergeMap(doc, patch, root)
	if err != nil {
		// Visit keys in order, so that the same error is always returned.
		m.sorted, m.path, m.borrowed = true, m.path[:0], 0
		if _, first := m.mergeMap(doc, patch, root); first != nil {
			err = first
		}
		return nil, err
	}
	before := identityOf(doc)
	before.known = true
	if err := before.check(out, o); err != nil {
		return nil, err
	}
	own, err := o.detached(out, doc)
	if err != nil {
		return nil, err
	}
	return own.(map[string]any), nil
}

// mergeType returns the type by which a document's fields merge.
func mergeType(doc map[string]any, s Schema, o options) (*schema.Type, error) {
	kind, _ := doc["kind"].(string)
	switch {
	case o.mode == Oper8 && kind != "":
		return oper8Type(kind, o.mergeKeys), nil
	case o.mode != Oper8 && s.Known():
		return s.place.Type, s.checkKind(doc)
	case kind == "":
		return nil, &PatchError{Path: "/kind", Kind: UnknownType, Err: errors.New("the document has no kind: set it, or use Merge, which needs no kind")}
	default:
		return nil, nil
	}
}

// merger applies one patch.
type merger struct {
	options
	// noSchema is set if no schema is known, so that it isn't known how lists merge. Directives about lists are refused
	// then.
	noSchema bool
	// sorted visits the fields of maps by name.
	sorted bool
	path   path
	// lists are arrangements that are kept for reuse. borrowed is how many of them are in use, counted from the first: one
	// for each level of nested lists.
	lists    []*arrangement
	borrowed int
}

// keptEntries is the length of a list above which its memory isn't kept for reuse.
const keptEntries = 4096

// mergers are reused, because most of the cost of a small patch is the memory that it needs.
var mergers = sync.Pool{New: func() any { return new(merger) }}

// retire puts a merger back into the pool, without references to its documents.
func (m *merger) retire() {
	m.lists = slices.DeleteFunc(m.lists, func(l *arrangement) bool { return cap(l.entries) > keptEntries })
	for _, l := range m.lists {
		l.reset(0)
		l.matches.reset(0, 0)
	}
	clear(m.path[:cap(m.path)])
	*m = merger{path: m.path[:0], lists: m.lists}
	mergers.Put(m)
}

// borrow returns an empty arrangement with room for n entries, to be returned by giveBack.
func (m *merger) borrow(n int) *arrangement {
	if m.borrowed == len(m.lists) {
		m.lists = append(m.lists, new(arrangement))
	}
	l := m.lists[m.borrowed]
	m.borrowed++
	l.reset(n)
	return l
}

func (m *merger) giveBack() { m.borrowed-- }

// each calls do for each field of a map, in the order of names if m.sorted is set.
func (m *merger) each(fields map[string]any, do func(key string, value any) error) error {
	if m.sorted {
		for _, key := range slices.Sorted(maps.Keys(fields)) {
			if err := do(key, fields[key]); err != nil {
				return err
			}
		}
		return nil
	}
	for key, value := range fields {
		if err := do(key, value); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) enter(field string)     { m.path = append(m.path, step{field: field}) }
func (m *merger) enterElement(index int) { m.path = append(m.path, step{index: index, list: true}) }
func (m *merger) leave()                 { m.path = m.path[:len(m.path)-1] }

// fail returns an error at the current path.
func (m *merger) fail(kind ErrorKind, format string, args ...any) error {
	return &PatchError{Path: m.path.String(), Kind: kind, Err: fmt.Errorf(format, args...)}
}
