package smp

import (
	"slices"

	"github.com/operkit/operkit/smp/internal/schema"
)

// matches records which elements of two lists, before and after, have the same identity. The zero value is ready for
// use. A matches can be reset and used again.
type matches struct {
	// ids are the identities of the elements of the list after.
	ids []any
	// at has, for each element of the list after, its index in the list before, or -1. after has, for each element of
	// the list before, its index in the list after, or -1.
	at, after []int32
	// ranks has, for each element of after, 1 + its position in the patch, or 0 if the patch doesn't name it.
	ranks []int32
}

// reset makes room for lists with before and after elements.
func (m *matches) reset(before, after int) {
	clear(m.ids)
	m.ids = m.ids[:0]
	m.at, m.ranks = zeros(m.at, after), zeros(m.ranks, after)
	m.after = zeros(m.after, before)
	for i := range m.after {
		m.after[i] = -1
	}
}

func zeros(list []int32, n int) []int32 {
	list = slices.Grow(list[:0], n)[:n]
	clear(list)
	return list
}

// match finds the elements of one list in another by their keys. same is the number of elements at the beginning of old
// and value that are known to be equal. apart reports whether all elements are objects with the keys, and no two
// elements of one list have the same key. match borrows an arrangement, which the caller has to give back.
func (d *differ) match(old, value []any, same int, keys []schema.Key) (m *matches, apart bool) {
	l := d.borrow(len(old))
	m = &l.matches
	m.reset(len(old), len(value))
	if !identifyAll(&l.known, old, keys) {
		return m, false
	}
	m.ids = append(m.ids, l.known.ids[:same]...)
	for _, element := range value[same:] {
		id, found := elementID(element, keys)
		if !found {
			return m, false
		}
		m.ids = append(m.ids, id)
	}
	return m, m.find(&l.known)
}

// find looks up the identities of the list after in before. It returns false if two of them are the same.
func (m *matches) find(before *index) (apart bool) {
	var added index
	next := 0
	for i, id := range m.ids {
		// Usually an element follows the previous one in before, too.
		if next >= len(before.ids) || before.ids[next] != id {
			next = before.find(id)
		}
		m.at[i] = int32(next)
		if next < 0 && added.add(id) != len(added.ids)-1 || next >= 0 && m.after[next] >= 0 {
			return false
		}
		if next >= 0 {
			m.after[next] = int32(i)
		}
		next++
	}
	return true
}

// keepsOrder reports whether the result of a patch has the order of the list after. The patch names some elements of
// that list, and deletes the elements that aren't in it.
func (d *differ) keepsOrder(m *matches, named []int) bool {
	l := d.borrow(len(m.at))
	defer d.giveBack()
	for rank, i := range named {
		m.ranks[i] = int32(rank) + 1
	}
	for place, i := range m.after {
		if i >= 0 {
			l.entries = append(l.entries, entry{index: i, live: int32(place), rank: m.ranks[i] - 1})
		}
	}
	for _, i := range named {
		if m.at[i] < 0 {
			l.entries = append(l.entries, entry{index: int32(i), live: -1, rank: m.ranks[i] - 1})
		}
	}
	for i, at := range l.order() {
		if l.entries[at].index != int32(i) {
			return false
		}
	}
	return true
}

// identifyAll adds the identities of a list's elements to an empty index. It returns false unless each element has an
// identity and no two are the same.
func identifyAll(ids *index, list []any, keys []schema.Key) bool {
	for i, value := range list {
		id, found := elementID(value, keys)
		if !found || ids.add(id) != i {
			return false
		}
	}
	return true
}

// grouped reports whether all elements of a list are objects with the keys, and elements with equal keys are
// neighbours.
func grouped(list []any, keys []schema.Key) bool {
	var ids index
	for i, value := range list {
		id, found := elementID(value, keys)
		if first := ids.add(id); !found || first != i && ids.ids[i-1] != id {
			return false
		}
	}
	return true
}
