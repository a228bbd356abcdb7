package dag

import "slices"

// search is the scratch space of admit.
type search struct {
	// marks tells which of the two walks of which insertion last saw a node.
	marks        []uint64
	round        uint64
	below, above walk
}

// walk is a breadth-first search that can be driven edge by edge.
type walk struct {
	// found are the nodes seen so far; those from at on have edges left to follow, beginning
	// with next.
	found []int32
	at    int
	next  int32
}

// admit makes the order fit for a new edge on which parent waits for child; it answers false
// when parent is reachable from child.
//
// If the order has child before parent already, which is the usual case, nothing is to be done.
// Otherwise only what lies between the two can be in the way: it walks from child over what is
// waited for and from parent over what waits, one edge of each in turn, until one of the walks
// ends, and moves what that one found past the other end. So an insertion costs no more than the
// smaller side of it.
func (s *structure) admit(parent, child int32) bool {
	if parent == child {
		return false
	}
	if s.order.before(child, parent) {
		return true
	}
	w := &s.search
	w.round += 2
	w.marks = append(w.marks, make([]uint64, len(s.nodes)-len(w.marks))...)
	w.below.start(child, s.nodes[child].children)
	w.above.start(parent, s.nodes[parent].parents)
	w.marks[child], w.marks[parent] = w.round, w.round+1
	for {
		ended, met := s.stepBelow(parent)
		if met {
			return false
		}
		if ended {
			s.sortByOrder(w.below.found)
			s.order.move(w.below.found, s.order.places[parent].prev)
			return true
		}
		ended, met = s.stepAbove(child)
		if met {
			return false
		}
		if ended {
			s.sortByOrder(w.above.found)
			s.order.move(w.above.found, child)
			return true
		}
	}
}

func (w *walk) start(id, next int32) {
	w.found = append(w.found[:0], id)
	w.at, w.next = 0, next
}

// stepBelow follows one edge to something that is waited for and lies behind limit. ended says
// that there was none left, met that the other walk has been there: a cycle.
func (s *structure) stepBelow(limit int32) (ended, met bool) {
	w := &s.search.below
	for w.next == none {
		if w.at++; w.at == len(w.found) {
			return true, false
		}
		w.next = s.nodes[w.found[w.at]].children
	}
	to := s.edges[w.next].child
	w.next = s.edges[w.next].nextChild
	if s.order.before(to, limit) {
		return false, false
	}
	return false, s.visit(w, to, s.search.round)
}

// stepAbove follows one edge to something that waits and lies before limit.
func (s *structure) stepAbove(limit int32) (ended, met bool) {
	w := &s.search.above
	for w.next == none {
		if w.at++; w.at == len(w.found) {
			return true, false
		}
		w.next = s.nodes[w.found[w.at]].parents
	}
	to := s.edges[w.next].parent
	w.next = s.edges[w.next].nextParent
	if s.order.before(limit, to) {
		return false, false
	}
	return false, s.visit(w, to, s.search.round+1)
}

// visit marks a node as found; met says that the other walk has found it before.
func (s *structure) visit(w *walk, id int32, mark uint64) (met bool) {
	switch seen := s.search.marks[id]; {
	case seen == mark:
	case seen >= s.search.round:
		return true
	default:
		s.search.marks[id] = mark
		w.found = append(w.found, id)
	}
	return false
}

func (s *structure) sortByOrder(ids []int32) {
	slices.SortFunc(ids, func(a, b int32) int {
		if s.order.before(a, b) {
			return -1
		}
		return 1
	})
}

// cycle is the shortest cycle that the edge from parent to child would close.
func (s *structure) cycle(parent, child int32) []string {
	from := make([]int32, len(s.nodes))
	for i := range from {
		from[i] = none
	}
	for queue := []int32{child}; len(queue) > 0 && from[parent] == none && parent != child; queue = queue[1:] {
		for at := s.nodes[queue[0]].children; at != none; at = s.edges[at].nextChild {
			if to := s.edges[at].child; to != child && from[to] == none {
				from[to] = queue[0]
				queue = append(queue, to)
			}
		}
	}
	path := []string{s.names[parent]}
	for id := parent; id != child; id = from[id] {
		if id != parent {
			path = append(path, s.names[id])
		}
	}
	path = append(path, s.names[child])
	slices.Reverse(path[1:])
	if parent != child {
		path = append(path, s.names[parent])
	}
	return path
}
