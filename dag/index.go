package dag

import "hash/maphash"

// index finds nodes by name. It is a hash table with linear probing that holds the numbers of nodes but no names. It
// takes a third of the memory of a map of names, and the garbage collector doesn't have to scan it. With a map, the
// benchmark dag-linear (tools/peers/dag) misses its goal. The zero value is empty.
type index struct {
	seed maphash.Seed
	// slots has a length that is a power of two. The high bits of an entry's hash select its slot; if that is taken,
	// the entry is in one of the slots behind it.
	slots []slot
	shift uint8
	count int
}

type slot struct {
	hash uint32
	// number is the number of the node + 1, 0 in a free slot.
	number int32
}

const hashWidth = 32

// find returns the node with a name, or none, and the hash of the name.
func (x *index) find(names []string, name string) (id int32, hash uint32) {
	if len(x.slots) == 0 {
		return none, 0
	}
	hash = uint32(maphash.String(x.seed, name))
	return x.lookup(names, name, hash), hash
}

func (x *index) lookup(names []string, name string, hash uint32) int32 {
	for at := hash >> x.shift; ; at = x.after(at) {
		s := x.slots[at]
		if s.number == 0 {
			return none
		}
		if s.hash == hash && names[s.number-1] == name {
			return s.number - 1
		}
	}
}

func (x *index) after(at uint32) uint32 { return (at + 1) & uint32(len(x.slots)-1) }

// add adds a name that find hasn't found. hash is the hash that find returned.
func (x *index) add(name string, hash uint32, id int32) {
	if len(x.slots) == 0 {
		x.seed = maphash.MakeSeed()
		hash = uint32(maphash.String(x.seed, name))
	}
	// At most two thirds of the slots are used, because probing in a fuller table takes long.
	if x.count++; 3*x.count > 2*len(x.slots) {
		x.grow()
	}
	x.put(slot{hash: hash, number: id + 1})
}

func (x *index) grow() {
	old := x.slots
	x.slots = make([]slot, max(16, 2*len(old)))
	x.shift = hashWidth
	for n := len(x.slots); n > 1; n /= 2 {
		x.shift--
	}
	for _, s := range old {
		if s.number != 0 {
			x.put(s)
		}
	}
}

func (x *index) put(s slot) {
	at := s.hash >> x.shift
	for x.slots[at].number != 0 {
		at = x.after(at)
	}
	x.slots[at] = s
}

// remove removes a node and closes the gap: it moves a later entry into the gap if the entry's hash selects the slot of
// the gap or a slot before it.
func (x *index) remove(id int32, hash uint32) {
	gap := hash >> x.shift
	for x.slots[gap].number != id+1 {
		gap = x.after(gap)
	}
	mask := uint32(len(x.slots) - 1)
	for at := x.after(gap); x.slots[at].number != 0; at = x.after(at) {
		if home := x.slots[at].hash >> x.shift; (at-home)&mask >= (at-gap)&mask {
			x.slots[gap] = x.slots[at]
			gap = at
		}
	}
	x.slots[gap] = slot{}
	x.count--
}

// renumber changes the number n of each node to numbers[n].
func (x *index) renumber(numbers []int32) {
	for at, s := range x.slots {
		if s.number != 0 {
			x.slots[at].number = numbers[s.number-1] + 1
		}
	}
}
