package dag

import (
	"cmp"
	"slices"
)

// search is the scratch space of admit.
type search struct {
	// marks holds, for each node, the number of the walk that found the node last. The number of a walk is round plus
	// its direction. round grows by 2 with each search.
	marks []uint64
	round uint64
	walks [2]walk
}

// walk is a breadth-first search that follows one edge at a time.
type walk struct {
	// found are the nodes found so far. All edges of the nodes before found[at] have been followed. next is the next
	// edge of found[at] to follow, none if it has no more.
	found []int32
	at    int
	next  int32
}

// admit adjusts the order for a new edge from parent to child. It returns false if the edge would close a cycle.
//
// Usually child is already before parent in the order, and nothing changes. Otherwise admit walks down from child and
// up from parent, following one edge of each walk in turn, until one walk has no edges left. Both walks visit only
// nodes that are between parent and child in the order. If the walk down has ended, its nodes are moved directly before
// parent. If the walk up has ended, its nodes are moved directly behind child. So the cost of an insertion depends on
// the shorter walk.
func (s *structure) admit(parent, child int32) bool {
	if parent == child || s.order.before(child, parent) {
		return parent != child
	}
	w := &s.search
	w.round += 2
	w.marks = append(w.marks, make([]uint64, len(s.nodes)-len(w.marks))...)
	for way, id := range [2]int32{down: child, up: parent} {
		w.walks[way] = walk{found: append(w.walks[way].found[:0], id), next: s.nodes[id].first[way]}
		w.marks[id] = w.round + uint64(way)
	}
	for way := down; ; way = 1 - way {
		ended, met := s.step(way, parent, child)
		switch {
		case met:
			return false
		case ended && way == down:
			s.order.moveBefore(s.inOrder(w.walks[way].found), parent)
			return true
		case ended:
			s.order.moveBehind(s.inOrder(w.walks[way].found), child)
			return true
		}
	}
}

// step follows one edge of a walk, unless it leads to a node that isn't between parent and child in the order. ended
// reports that no edge was left. met reports that the other walk has found the same node, which means a cycle.
func (s *structure) step(way direction, parent, child int32) (ended, met bool) {
	w := &s.search.walks[way]
	for w.next == none {
		if w.at++; w.at == len(w.found) {
			return true, false
		}
		w.next = s.nodes[w.found[w.at]].first[way]
	}
	e := &s.edges[w.next]
	to := e.ends[1-way]
	w.next = e.next[way]
	if way == down && s.order.before(to, parent) || way == up && s.order.before(child, to) {
		return false, false
	}
	switch mark := s.search.round + uint64(way); {
	case s.search.marks[to] == mark:
	case s.search.marks[to] >= s.search.round:
		return false, true
	default:
		s.search.marks[to] = mark
		w.found = append(w.found, to)
	}
	return false, false
}

func (s *structure) inOrder(ids []int32) []int32 {
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(s.order.places[a].label, s.order.places[b].label) })
	return ids
}

// cycle returns the shortest cycle that an edge from parent to child would close.
func (s *structure) cycle(parent, child int32) []string {
	if parent == child {
		return []string{s.names[parent], s.names[parent]}
	}
	from := map[int32]int32{child: none}
	for queue := []int32{child}; len(queue) > 0; queue = queue[1:] {
		for to := range s.neighbours(queue[0], down) {
			if _, found := from[to]; !found {
				from[to] = queue[0]
				queue = append(queue, to)
			}
		}
	}
	path := []string{s.names[parent]}
	for id := parent; id != none; id = from[id] {
		path = append(path, s.names[id])
	}
	slices.Reverse(path[1:])
	return path
}
