package dag

// order is a linear order of nodes: a doubly linked list with ascending labels. Two nodes are compared by comparing
// their labels. If no label is free between two nodes, all nodes get new labels.
type order struct {
	places     []place
	head, tail int32
	// last is the node that was inserted last.
	last int32
}

type place struct {
	label      uint64
	prev, next int32
}

const (
	none = int32(-1)

	labelEnd = uint64(1) << 62
	// labelGap is the gap between labels after relabel, and between the first or last node and a node added there.
	labelGap = uint64(1) << 32
	// spare is the number of steps that stay free in a gap when nodes are inserted: to put n nodes into a gap, insert
	// divides the gap into n + spare equal steps and uses n of them. Because of the free steps, many more nodes fit at
	// that place later.
	spare = 31
)

func (o *order) before(a, b int32) bool { return o.places[a].label < o.places[b].label }

// append adds the next node behind all others.
func (o *order) append() {
	id := int32(len(o.places))
	if id == 0 {
		o.head, o.tail = none, none
	}
	o.places = push(o.places, place{})
	o.insert([]int32{id}, o.tail, none, true)
}

// moveBefore moves the nodes ids directly before next. ids has them in the order of the list, and doesn't contain next.
func (o *order) moveBefore(ids []int32, next int32) {
	o.unlink(ids...)
	o.insert(ids, o.places[next].prev, next, true)
}

// moveBehind moves the nodes ids directly behind prev. ids has them in the order of the list, and doesn't contain prev.
func (o *order) moveBehind(ids []int32, prev int32) {
	o.unlink(ids...)
	o.insert(ids, prev, o.places[prev].next, false)
}

func (o *order) unlink(ids ...int32) {
	for _, id := range ids {
		p := o.places[id]
		o.link(p.prev, p.next)
	}
}

// link makes two places neighbours. none stands for the ends of the list.
func (o *order) link(prev, next int32) {
	if prev == none {
		o.head = next
	} else {
		o.places[prev].next = next
	}
	if next == none {
		o.tail = prev
	} else {
		o.places[next].prev = prev
	}
}

// insert puts ids between two neighbours, close to prev or close to next. Either neighbour may be none.
func (o *order) insert(ids []int32, prev, next int32, closeToPrev bool) {
	label, step := o.room(len(ids), prev, next, closeToPrev)
	if step == 0 {
		o.relabel()
		label, step = o.room(len(ids), prev, next, closeToPrev)
	}
	for _, id := range ids {
		o.places[id].label = label
		o.link(prev, id)
		prev, label = id, label+step
	}
	o.last = prev
	o.link(prev, next)
}

// room returns the first of count labels between two neighbours, and the step between the labels. The step is 0 if
// there aren't enough labels.
func (o *order) room(count int, prev, next int32, closeToPrev bool) (first, step uint64) {
	low, high := labelEnd/2, labelEnd
	if prev != none {
		low = o.places[prev].label
	} else if next != none {
		low, closeToPrev = 0, false
	}
	if next != none {
		high = o.places[next].label
	} else {
		closeToPrev = true
	}
	if count == 1 && prev != none && next != none {
		// Nodes are often inserted at one place one by one, each beside the node inserted before. The new label is
		// close to the label of that node, so that most free labels stay on the other side.
		switch o.last {
		case prev:
			closeToPrev = true
		case next:
			closeToPrev = false
		default: // the next node may come on either side
			step = (high - low) / 2
			return low + step, step
		}
	}
	step = (high - low) / uint64(count+spare)
	if prev == none || next == none {
		step = min(step, labelGap)
	}
	if closeToPrev {
		return low + step, step
	}
	return high - uint64(count)*step, step
}

// relabel spreads all labels around the middle.
func (o *order) relabel() {
	label := labelEnd/2 - uint64(len(o.places)/2)*labelGap
	for id := o.head; id != none; id = o.places[id].next {
		o.places[id].label = label
		label += labelGap
	}
}

// renumber changes the number n of each node to numbers[n]. count is the number of nodes.
func (o *order) renumber(numbers []int32, count int) {
	renumbered := order{places: make([]place, count), head: none, tail: none}
	for id := o.head; id != none; id = o.places[id].next {
		renumbered.insert([]int32{numbers[id]}, renumbered.tail, none, true)
	}
	*o = renumbered
}
