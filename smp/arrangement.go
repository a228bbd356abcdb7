package smp

import (
	"cmp"
	"slices"
)

// arrangement is a merged list before it is put in order. Elements that the patch names come in the order of the patch,
// all others in the order of the document. The two sequences are interleaved by the positions of their elements in the
// document. An arrangement can be reset and used for another list. The zero value is empty.
type arrangement struct {
	entries []entry
	// known are the identities of entries, at the same positions.
	known index
	// repeats is set when several entries have the same identity.
	repeats bool
	// slots is the number of new elements still to come that are placed like further elements of the document. If a
	// patch sets an order and deletes elements, the API server puts the first new elements in the places of the deleted
	// elements.
	slots int

	plain, deleted []element
	gone           index
	named, others  []int32
	ordered        []int32
	matches        matches
}

type entry struct {
	value any
	// live is the position in the document of the first element with the same identity, -1 if the document has none.
	// rank is the position of that identity in the patch, -1 if the patch doesn't name it.
	live, rank int32
	// index is the element's index in the document, or in the patch for a new element.
	index int32
}

// element is one of the objects of a list in a patch.
type element struct {
	id     any
	object map[string]any
	index  int
}

// reset empties the arrangement and makes room for n entries.
func (l *arrangement) reset(n int) {
	clear(l.entries)
	clear(l.plain)
	clear(l.deleted)
	l.entries, l.plain, l.deleted = slices.Grow(l.entries[:0], n), l.plain[:0], l.deleted[:0]
	l.known.reset(n)
	l.gone.reset(0)
	l.repeats, l.slots = false, 0
}

// add appends an element. live is true for an element of the document, false for an element that only the patch has.
func (l *arrangement) add(id, value any, live bool) {
	at, first := len(l.entries), l.known.add(id)
	e := entry{value: value, live: int32(first), rank: -1}
	if first != at {
		l.repeats = true
		e.rank = l.entries[first].rank
	}
	if !live {
		e.live = -1
	}
	l.entries = append(l.entries, e)
}

// addNew appends an element that only the patch has.
func (l *arrangement) addNew(id, value any) {
	live := l.slots > 0
	if live {
		l.slots--
	}
	l.add(id, value, live)
}

func (l *arrangement) has(id any) bool { return l.known.find(id) >= 0 }

// name sets the rank of the entries with an identity, if there are any and they have no rank yet.
func (l *arrangement) name(id any, rank int) {
	first := l.known.find(id)
	if first < 0 || l.entries[first].rank >= 0 {
		return
	}
	l.entries[first].rank = int32(rank)
	for i := first + 1; l.repeats && i < len(l.entries); i++ {
		if l.known.ids[i] == id {
			l.entries[i].rank = int32(rank)
		}
	}
}

// arrange returns the values in order.
func (l *arrangement) arrange() []any {
	out := make([]any, len(l.entries))
	for i, at := range l.order() {
		out[i] = l.entries[at].value
	}
	return out
}

// order returns the indexes of the entries in the order of the result.
func (l *arrangement) order() []int32 {
	l.named, l.others = l.named[:0], l.others[:0]
	for i := range l.entries {
		if l.entries[i].rank >= 0 {
			l.named = append(l.named, int32(i))
		} else {
			l.others = append(l.others, int32(i))
		}
	}
	slices.SortStableFunc(l.named, func(a, b int32) int { return cmp.Compare(l.entries[a].rank, l.entries[b].rank) })
	if l.repeats {
		slices.SortStableFunc(l.others, func(a, b int32) int { return cmp.Compare(l.entries[a].live, l.entries[b].live) })
	}
	out, named, others := l.ordered[:0], l.named, l.others
	for len(named) > 0 && len(others) > 0 {
		next, other := &l.entries[named[0]], &l.entries[others[0]]
		if next.live >= 0 && other.live < next.live {
			out, others = append(out, others[0]), others[1:]
		} else {
			out, named = append(out, named[0]), named[1:]
		}
	}
	l.ordered = append(append(out, named...), others...)
	return l.ordered
}

// values returns the values in the order in which they were added.
func (l *arrangement) values() []any {
	out := make([]any, len(l.entries))
	for i, e := range l.entries {
		out[i] = e.value
	}
	return out
}
