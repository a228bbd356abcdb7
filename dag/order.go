package dag

import "math"

// order is a linear order of nodes in which a node can be moved to any place: a doubly linked
// list with ascending labels. Comparing is one comparison of labels; a place without a free
// label spreads the labels around it (Bender, Cole, Demaine, Farach-Colton, Zito: "Two
// simplified algorithms for maintaining order in a list"), O(log n) amortised.
type order struct {
	places     []place
	head, tail int32
}

type place struct {
	label      uint64
	prev, next int32
}

const (
	none = int32(-1)

	labelBits = 62
	labelEnd  = uint64(1) << labelBits
	// labelGap is what stays free before a node at the end of the list, where most are added.
	labelGap = uint64(1) << 32
	// density bounds how full the ranges of labels may be: one of 2^i labels may hold up to
	// (2/density)^i nodes. Between 1 and 2; nearer to 1, ranges are spread sooner.
	density = 1.4
)

func (o *order) before(a, b int32) bool { return o.places[a].label < o.places[b].label }

// append puts the next node behind all others.
func (o *order) append() {
	id := int32(len(o.places))
	if id == 0 {
		o.head, o.tail = none, none
	}
	o.places = push(o.places, place{prev: o.tail, next: none})
	if o.tail != none {
		if last := &o.places[o.tail]; labelEnd-last.label >= 2*labelGap {
			o.places[id].label = last.label + labelGap
			last.next, o.tail = id, id
			return
		}
	}
	o.insert(id, o.tail, none, 1)
}

// renumber gives each node the number that it has in numbers, where those that have been taken
// out are none; count is how many are left.
func (o *order) renumber(numbers []int32, count int) {
	number := func(id int32) int32 {
		if id == none {
			return none
		}
		return numbers[id]
	}
	for id, to := range numbers {
		if to != none {
			p := o.places[id]
			o.places[to] = place{label: p.label, prev: number(p.prev), next: number(p.next)}
		}
	}
	o.places, o.head, o.tail = o.places[:count], number(o.head), number(o.tail)
}

// move takes ids, which are in ascending order, out of the list and puts them back, in that
// order, right behind prev. Neither may prev be among them.
func (o *order) move(ids []int32, prev int32) {
	for _, id := range ids {
		o.unlink(id)
	}
	next := o.head
	if prev != none {
		next = o.places[prev].next
	}
	for i, id := range ids {
		o.insert(id, prev, next, len(ids)-i)
		prev = id
	}
}

func (o *order) unlink(id int32) {
	p := o.places[id]
	if p.prev == none {
		o.head = p.next
	} else {
		o.places[p.prev].next = p.next
	}
	if p.next == none {
		o.tail = p.prev
	} else {
		o.places[p.next].prev = p.prev
	}
}

// insert links id between two neighbours, leaving room for as many as are still to come.
func (o *order) insert(id, prev, next int32, coming int) {
	label, free := o.label(prev, next, uint64(coming))
	for !free {
		if prev != none {
			o.spread(prev, uint64(coming))
		} else {
			o.spread(next, uint64(coming))
		}
		label, free = o.label(prev, next, uint64(coming))
	}
	o.places[id] = place{label: label, prev: prev, next: next}
	if prev == none {
		o.head = id
	} else {
		o.places[prev].next = id
	}
	if next == none {
		o.tail = id
	} else {
		o.places[next].prev = id
	}
}

// label finds a label between two neighbours, either of which may be none. It answers false
// when there is none left.
func (o *order) label(prev, next int32, coming uint64) (uint64, bool) {
	low, high := uint64(0), labelEnd
	if prev != none {
		low = o.places[prev].label
	}
	if next != none {
		high = o.places[next].label
	}
	step := (high - low) / (coming + 1)
	if next == none && prev != none {
		step = min(step, labelGap)
	}
	return low + step, step > 0
}

// spread gives even labels to the nodes of the smallest range around id that is sparse enough
// and leaves room for as many as are still to come between any two of them.
func (o *order) spread(id int32, coming uint64) {
	first, last, count := id, id, uint64(1)
	for bits := 1; bits <= labelBits; bits++ {
		size := uint64(1) << bits
		low := o.places[id].label &^ (size - 1)
		for p := o.places[first].prev; p != none && o.places[p].label >= low; p = o.places[p].prev {
			first = p
			count++
		}
		for n := o.places[last].next; n != none && o.places[n].label < low+size; n = o.places[n].next {
			last = n
			count++
		}
		if bits < labelBits && float64(count) > math.Pow(2/density, float64(bits)) || size/(count+1) <= coming+1 {
			continue
		}
		step := size / (count + 1)
		for n, label := first, low+step; ; n, label = o.places[n].next, label+step {
			o.places[n].label = label
			if n == last {
				return
			}
		}
	}
}
