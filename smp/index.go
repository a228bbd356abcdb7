package smp

import (
	"encoding/json"
	"hash/maphash"
	"math"
	"math/bits"
)

// index finds identities, which are scalars of [document.Scalar], in the order in which they were added. It is a hash
// table of its own because it can be emptied and used again without allocating; a map of interfaces would cost more
// than the whole merge (ratio smp-shared-allocs). The zero value is empty.
type index struct {
	ids []any
	// slots holds 1 + the position of each identity, in the slot of its hash or a later one. 0 is free.
	slots []int32
}

// linear is the number of identities up to which a linear search is quicker.
const linear = 8

var seed = maphash.MakeSeed()

// reset empties the index and makes room for n identities.
func (x *index) reset(n int) {
	clear(x.ids)
	x.ids = x.ids[:0]
	size := 0
	if n > linear {
		size = 1 << bits.Len(uint(2*n-1))
	}
	if cap(x.slots) < size {
		x.slots = make([]int32, size)
		return
	}
	x.slots = x.slots[:size]
	clear(x.slots)
}

// add appends an identity and returns the position where it was added first.
func (x *index) add(id any) (first int) {
	at := len(x.ids)
	if at >= linear && 2*(at+1) > len(x.slots) {
		x.rehash(2 * (at + 1))
	}
	if len(x.slots) == 0 {
		if first = x.scan(id); first < 0 {
			first = at
		}
		x.ids = append(x.ids, id)
		return first
	}
	slot := x.slot(id)
	if x.slots[slot] == 0 {
		x.slots[slot] = int32(at) + 1
	}
	x.ids = append(x.ids, id)
	return int(x.slots[slot]) - 1
}

// find returns the position where an identity was added first, or -1.
func (x *index) find(id any) int {
	if len(x.slots) == 0 {
		return x.scan(id)
	}
	return int(x.slots[x.slot(id)]) - 1
}

func (x *index) scan(id any) int {
	for i, other := range x.ids {
		if other == id {
			return i
		}
	}
	return -1
}

// slot returns the slot of an identity, or the free slot where it would be.
func (x *index) slot(id any) int {
	mask := len(x.slots) - 1
	slot := int(hash(id)) & mask
	for x.slots[slot] != 0 && x.ids[x.slots[slot]-1] != id {
		slot = (slot + 1) & mask
	}
	return slot
}

func (x *index) rehash(n int) {
	x.slots = make([]int32, 1<<bits.Len(uint(2*n-1)))
	for i, id := range x.ids {
		if slot := x.slot(id); x.slots[slot] == 0 {
			x.slots[slot] = int32(i) + 1
		}
	}
}

func hash(id any) uint64 {
	switch id := id.(type) {
	case string:
		return maphash.String(seed, id)
	case json.Number:
		return maphash.String(seed, string(id))
	case int64:
		return scramble(uint64(id))
	case float64:
		return scramble(math.Float64bits(id))
	case occurrence:
		return hash(id.id) + scramble(uint64(id.nth))
	default:
		return 0
	}
}

// scramble mixes the bits of a number, so that each affects the whole word.
func scramble(n uint64) uint64 {
	high, low := bits.Mul64(n^0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9)
	return high ^ low
}
