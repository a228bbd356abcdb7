package dag

// edge says that parent waits for child. Each edge is in two lists that run through the edges
// themselves, in the order of insertion: all of its parent and all of its child. A list ends
// with none; before its first edge comes, as previous one, its last.
type edge struct {
	parent, child          int32
	nextChild, prevChild   int32
	nextParent, prevParent int32
}

// findEdge looks through both of the lists in which the edge would be, a step of each in turn,
// until the shorter one ends.
func (s *structure) findEdge(parent, child int32) int32 {
	below, above := s.nodes[parent].children, s.nodes[child].parents
	for below != none && above != none {
		if s.edges[below].child == child {
			return below
		}
		if s.edges[above].parent == parent {
			return above
		}
		below, above = s.edges[below].nextChild, s.edges[above].nextParent
	}
	return none
}

func (s *structure) linkEdge(parent, child int32) int32 {
	at := int32(len(s.edges))
	if last := len(s.freed) - 1; last >= 0 {
		at = s.freed[last]
		s.freed = s.freed[:last]
	} else {
		s.edges = push(s.edges, edge{})
	}
	e := edge{parent: parent, child: child, nextChild: none, prevChild: at, nextParent: none, prevParent: at}
	if first := s.nodes[parent].children; first == none {
		s.nodes[parent].children = at
	} else {
		e.prevChild = s.edges[first].prevChild
		s.edges[e.prevChild].nextChild = at
		s.edges[first].prevChild = at
	}
	if first := s.nodes[child].parents; first == none {
		s.nodes[child].parents = at
	} else {
		e.prevParent = s.edges[first].prevParent
		s.edges[e.prevParent].nextParent = at
		s.edges[first].prevParent = at
	}
	s.edges[at] = e
	return at
}

// removeEdge takes an edge out of both of its lists.
func (s *structure) removeEdge(at int32) {
	e := s.edges[at]
	switch first := s.nodes[e.parent].children; {
	case at == first:
		s.nodes[e.parent].children = e.nextChild
		if e.nextChild != none {
			s.edges[e.nextChild].prevChild = e.prevChild
		}
	case e.nextChild == none:
		s.edges[e.prevChild].nextChild = none
		s.edges[first].prevChild = e.prevChild
	default:
		s.edges[e.prevChild].nextChild = e.nextChild
		s.edges[e.nextChild].prevChild = e.prevChild
	}
	switch first := s.nodes[e.child].parents; {
	case at == first:
		s.nodes[e.child].parents = e.nextParent
		if e.nextParent != none {
			s.edges[e.nextParent].prevParent = e.prevParent
		}
	case e.nextParent == none:
		s.edges[e.prevParent].nextParent = none
		s.edges[first].prevParent = e.prevParent
	default:
		s.edges[e.prevParent].nextParent = e.nextParent
		s.edges[e.nextParent].prevParent = e.prevParent
	}
	s.edges[at] = edge{parent: none, child: none}
	s.freed = append(s.freed, at)
	delete(s.when, at)
}
