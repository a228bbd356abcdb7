package dag

import "strings"

// structure is a graph without the data of its nodes: names, dependencies and a topological
// order that every insertion keeps. Nodes and edges are numbered in the order of insertion.
type structure struct {
	index map[string]int32
	// names only ever grows, so that a snapshot can share it.
	names []string
	nodes []node
	edges []edge
	// when holds the predicates of the edges that have one.
	when map[int32]Predicate
	// order has every node behind those it waits for.
	order  order
	search search
}

type node struct {
	// children are the edges to what the node waits for, parents those from what waits for it.
	children, parents edgeList
	disabled          bool
}

// edge says that parent waits for child. Each edge is in two lists that run through the edges
// themselves: all of its parent and all of its child.
type edge struct {
	parent, child         int32
	nextChild, nextParent int32
}

type edgeList struct{ first, last, count int32 }

var emptyList = edgeList{first: none, last: none}

func (s *structure) addNode(name string) error {
	if name == "" {
		return ErrInvalidNode
	}
	if _, taken := s.index[name]; taken {
		return ErrDuplicateNode
	}
	if s.index == nil {
		s.index = map[string]int32{}
	}
	s.index[name] = int32(len(s.names))
	s.names = append(s.names, name)
	s.nodes = append(s.nodes, node{children: emptyList, parents: emptyList})
	s.order.append()
	return nil
}

// addEdge makes parent wait for child, or replaces the predicate of the edge that is there
// already. A new edge that would close a cycle changes nothing.
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

// findEdge looks in the shorter one of the two lists in which the edge would be.
func (s *structure) findEdge(parent, child int32) int32 {
	if s.nodes[parent].children.count <= s.nodes[child].parents.count {
		for at := s.nodes[parent].children.first; at != none; at = s.edges[at].nextChild {
			if s.edges[at].child == child {
				return at
			}
		}
		return none
	}
	for at := s.nodes[child].parents.first; at != none; at = s.edges[at].nextParent {
		if s.edges[at].parent == parent {
			return at
		}
	}
	return none
}

func (s *structure) linkEdge(parent, child int32) int32 {
	at := int32(len(s.edges))
	s.edges = append(s.edges, edge{parent: parent, child: child, nextChild: none, nextParent: none})
	children, parents := &s.nodes[parent].children, &s.nodes[child].parents
	if children.first == none {
		children.first = at
	} else {
		s.edges[children.last].nextChild = at
	}
	if parents.first == none {
		parents.first = at
	} else {
		s.edges[parents.last].nextParent = at
	}
	children.last, parents.last = at, at
	children.count++
	parents.count++
	return at
}

// write writes the nodes in the order of their insertion, as in "a:[b],b:[]".
func (s *structure) write(b *strings.Builder) {
	for id, name := range s.names {
		if id > 0 {
			b.WriteByte(',')
		}
		b.WriteString(name)
		b.WriteString(":[")
		for at := s.nodes[id].children.first; at != none; at = s.edges[at].nextChild {
			if at != s.nodes[id].children.first {
				b.WriteByte(',')
			}
			b.WriteString(s.names[s.edges[at].child])
		}
		b.WriteByte(']')
	}
}
