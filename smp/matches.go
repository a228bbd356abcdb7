package smp

import (
	"github.com/operkit/operkit/smp/internal/document"
	"github.com/operkit/operkit/smp/internal/schema"
)

// matches tells which elements of two lists are the same ones.
type matches struct {
	// at is, for each element after, the place before, or -1.
	at []int
	// stays tells, for each element before, whether it is there after.
	stays []bool
}

// match finds the elements of one list in another by their keys. apart is false unless all are
// objects with the keys, and no two in one list alike. It borrows an arrangement.
func (d *differ) match(old, value []any, keys []schema.Key) (m matches, apart bool) {
	before := &d.borrow(len(old)).known
	if !identifyAll(before, old, keys) {
		return m, false
	}
	ids := make([]any, len(value))
	for i, element := range value {
		object, _ := element.(map[string]any)
		id, _, found := identify(object, keys)
		if !found {
			return m, false
		}
		ids[i] = id
	}
	return matchIDs(before, ids)
}

// matchIDs does that for identities.
func matchIDs(before *index, ids []any) (m matches, apart bool) {
	m = matches{at: make([]int, len(ids)), stays: make([]bool, len(before.ids))}
	var added index
	next := 0
	for i, id := range ids {
		// Mostly it is the one behind the one before.
		if next >= len(before.ids) || before.ids[next] != id {
			next = before.find(id)
		}
		m.at[i] = next
		if next < 0 && added.add(id) != len(added.ids)-1 || next >= 0 && m.stays[next] {
			return m, false
		}
		if next >= 0 {
			m.stays[next] = true
		}
		next++
	}
	return m, true
}

// comesOut tells whether a list comes out in the order that it has after, when the patch names some
// of its elements and deletes those that don't stay (spec: smp 17).
func (d *differ) comesOut(m matches, named []int) bool {
	l := d.borrow(len(m.at))
	defer d.giveBack()
	ranks := make([]int32, len(m.at))
	for rank, i := range named {
		ranks[i] = int32(rank) + 1
	}
	after := make([]int, len(m.stays))
	for i, at := range m.at {
		if at >= 0 {
			after[at] = i
		}
	}
	for place, stays := range m.stays {
		if stays {
			l.entries = append(l.entries, entry{value: after[place], live: int32(place), rank: ranks[after[place]] - 1})
		}
	}
	for _, i := range named {
		if m.at[i] < 0 {
			l.entries = append(l.entries, entry{value: i, live: -1, rank: ranks[i] - 1})
		}
	}
	for i, value := range l.arrange() {
		if value != i {
			return false
		}
	}
	return true
}

// identifyAll adds the identities of a list's elements to an empty index. It answers false unless all
// are objects with the keys, and no two alike.
func identifyAll(ids *index, list []any, keys []schema.Key) bool {
	for i, value := range list {
		object, _ := value.(map[string]any)
		id, _, found := identify(object, keys)
		if !found || ids.add(id) != i {
			return false
		}
	}
	return true
}

// grouped tells whether all elements of a list are objects with the keys, and those alike stand
// together.
func grouped(list []any, keys []schema.Key) bool {
	var ids index
	for i, value := range list {
		object, _ := value.(map[string]any)
		id, _, found := identify(object, keys)
		if first := ids.add(id); !found || first != i && ids.ids[i-1] != id {
			return false
		}
	}
	return true
}

// canonicalAll does the same for a list of scalars.
func canonicalAll(ids *index, list []any) bool {
	for i, value := range list {
		id, isScalar := document.Scalar(value)
		if !isScalar || ids.add(id) != i {
			return false
		}
	}
	return true
}
