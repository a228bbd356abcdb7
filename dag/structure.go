package dag

import (
	"iter"
	"strings"
)

// structure is a graph without the data of its nodes: names, dependencies, and a topological order that every insertion
// maintains. Nodes are numbered in the order in which they were added.
type structure struct {
	index index
	// names only grows, so that snapshots can share it. The names of removed nodes stay in it until compact replaces
	// it.
	names []string
	nodes []node
	edges []edge
	// freed are the numbers of removed edges. New edges reuse them.
	freed []int32
	// when holds the predicates of edges.
	when     map[int32]Predicate
	disabled map[int32]bool
	// order has every node behind the nodes that it waits for.
	order  order
	search search
}

// direction is a way along the edges: down to the nodes that a node waits for, up to the nodes that wait for it.
type direction = int

const (
	down direction = iota
	up
)

// node has the first and the last of its edges in each direction.
type node struct{ first, last [2]int32 }

// removed marks a removed node: it is the value of the node's first[down].
const removed = int32(-2)

// edge says that ends[0], its parent, waits for ends[1], its child. Each edge is an element of two linked lists in the
// order of insertion: list 0 has the edges of the same parent, list 1 the edges of the same child. A step in direction
// way leads from ends[way] to ends[1-way]. The edges that lead away from a node in this direction are in its list
// number way.
type edge struct{ ends, next, prev [2]int32 }

// find returns the number of a node, or none.
func (s *structure) find(name string) int32 {
	id, _ := s.index.find(s.names, name)
	return id
}

func (s *structure) addNode(name string) error {
	if name == "" {
		return ErrInvalidNode
	}
	id, hash := s.index.find(s.names, name)
	if id != none {
		return ErrDuplicateNode
	}
	s.index.add(name, hash, int32(len(s.names)))
	s.names = push(s.names, name)
	s.nodes = push(s.nodes, node{first: [2]int32{none, none}, last: [2]int32{none, none}})
	s.order.append()
	return nil
}

// push appends e. It doubles the capacity when s is full. The built-in append grows large slices by less, and so copies
// them more often.
func push[E any](s []E, e E) []E {
	if len(s) == cap(s) {
		grown := make([]E, len(s), max(16, 2*len(s)))
		copy(grown, s)
		s = grown
	}
	return append(s, e)
}

// addEdge makes parent wait for child, or replaces the predicate of an existing edge. If the edge would close a cycle,
// addEdge returns an error and changes nothing.
func (s *structure) addEdge(parent, child int32, when Predicate) error {
	at := s.findEdge(parent, child)
	if at == none {
		if !s.admit(parent, child) {
			return &CycleError{Path: s.cycle(parent, child)}
		}
		at = s.linkEdge(parent, child)
	}
	if when == nil {
		delete(s.when, at)
		return nil
	}
	if s.when == nil {
		s.when = map[int32]Predicate{}
	}
	s.when[at] = when
	return nil
}

// findEdge looks for an edge in the list of its parent and the list of its child, one step of each in turn, until the
// shorter list ends.
func (s *structure) findEdge(parent, child int32) int32 {
	below, above := s.nodes[parent].first[down], s.nodes[child].first[up]
	for below != none && above != none {
		if s.edges[below].ends[1] == child {
			return below
		}
		if s.edges[above].ends[0] == parent {
			return above
		}
		below, above = s.edges[below].next[down], s.edges[above].next[up]
	}
	return none
}

func (s *structure) linkEdge(parent, child int32) int32 {
	at := int32(len(s.edges))
	if last := len(s.freed) - 1; last >= 0 {
		at, s.freed = s.freed[last], s.freed[:last]
	} else {
		s.edges = push(s.edges, edge{})
	}
	e := edge{ends: [2]int32{parent, child}, next: [2]int32{none, none}}
	for way, id := range e.ends {
		n := &s.nodes[id]
		if e.prev[way] = n.last[way]; e.prev[way] == none {
			n.first[way] = at
		} else {
			s.edges[e.prev[way]].next[way] = at
		}
		n.last[way] = at
	}
	s.edges[at] = e
	return at
}

func (s *structure) removeEdge(at int32) {
	e := s.edges[at]
	for way, id := range e.ends {
		n, prev, next := &s.nodes[id], e.prev[way], e.next[way]
		if prev == none {
			n.first[way] = next
		} else {
			s.edges[prev].next[way] = next
		}
		if next == none {
			n.last[way] = prev
		} else {
			s.edges[next].prev[way] = prev
		}
	}
	s.edges[at] = edge{ends: [2]int32{none, none}}
	s.freed = append(s.freed, at)
	delete(s.when, at)
}

// removeNode removes a node, and reports whether there was one with the name.
func (s *structure) removeNode(name string) bool {
	id, hash := s.index.find(s.names, name)
	if id == none {
		return false
	}
	n := &s.nodes[id]
	for way := range n.first {
		for n.first[way] != none {
			s.removeEdge(n.first[way])
		}
	}
	n.first[down] = removed
	s.order.unlink(id)
	s.index.remove(id, hash)
	delete(s.disabled, id)
	return true
}

// gone returns the number of removed nodes that still use memory.
func (s *structure) gone() int { return len(s.nodes) - s.index.count }

// sparse reports whether enough nodes were removed since the last call of compact to call it again: the removals have
// cost at least as much as the call will.
func (s *structure) sparse() bool { return s.gone() > max(16, s.index.count) }

// compact renumbers the remaining nodes without gaps, in the same order.
func (s *structure) compact() {
	numbers := make([]int32, len(s.nodes))
	names := make([]string, 0, s.index.count)
	disabled := make(map[int32]bool, len(s.disabled))
	for id := range s.live {
		number := int32(len(names))
		numbers[id], s.nodes[number] = number, s.nodes[id]
		names = append(names, s.names[id])
		if s.disabled[id] {
			disabled[number] = true
		}
	}
	s.order.renumber(numbers, len(names))
	s.index.renumber(numbers)
	s.nodes, s.names, s.disabled = s.nodes[:len(names)], names, disabled
	for at := range s.edges {
		if e := &s.edges[at]; e.ends[0] != none {
			e.ends = [2]int32{numbers[e.ends[0]], numbers[e.ends[1]]}
		}
	}
	s.search.marks = s.search.marks[:0]
}

// disable sets whether a node is disabled, and reports whether that changed anything.
func (s *structure) disable(id int32, disabled bool) bool {
	if s.disabled[id] == disabled {
		return false
	}
	if s.disabled == nil {
		s.disabled = map[int32]bool{}
	}
	s.disabled[id] = disabled
	return true
}

// live yields the nodes in the order in which they were added.
func (s *structure) live(yield func(id int32) bool) {
	for id := range s.nodes {
		if s.nodes[id].first[down] != removed && !yield(int32(id)) {
			return
		}
	}
}

// neighbours yields the nodes one edge away from a node, in the order in which the edges were added.
func (s *structure) neighbours(id int32, way direction) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for at := s.nodes[id].first[way]; at != none; at = s.edges[at].next[way] {
			if !yield(s.edges[at].ends[1-way]) {
				return
			}
		}
	}
}

// write writes the nodes in the order in which they were added, as in "a:[b],b:[]".
func (s *structure) write(b *strings.Builder) {
	separator := ""
	for id := range s.live {
		b.WriteString(separator + s.names[id] + ":[")
		separator = ""
		for child := range s.neighbours(id, down) {
			b.WriteString(separator + s.names[child])
			separator = ","
		}
		b.WriteByte(']')
		separator = ","
	}
}
