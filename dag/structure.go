package dag

import "strings"

// structure is a graph without the data of its nodes: names, dependencies and a topological
// order that every insertion keeps. Nodes are numbered in the order of insertion.
type structure struct {
	index index
	// names only ever grows, so that a snapshot can share it. What is removed stays in it until
	// compact replaces it.
	names []string
	nodes []node
	edges []edge
	// freed are the numbers of removed edges, for others to take.
	freed []int32
	// when holds the predicates of the edges that have one.
	when     map[int32]Predicate
	disabled map[int32]bool
	// order has every node behind those it waits for.
	order  order
	search search
	latest pair
}

// node has the first of its edges to what it waits for, and of those from what waits for it.
type node struct{ children, parents int32 }

// removed is in the place of both edges of a node that isn't there any more.
const removed = int32(-2)

func (s *structure) find(name string) int32 {
	id, _ := s.index.find(s.names, name)
	return id
}

// findDependent and findDependency do what find does, and look first at where the nodes of the
// edge before were: most graphs are written down node by node, each with all that it waits for,
// and in large ones looking up a name is what costs most.
func (s *structure) findDependent(name string) int32 {
	switch {
	case s.is(s.latest.parent, name):
	case s.is(s.latest.parent+1, name):
		s.latest = pair{parent: s.latest.parent + 1, below: s.latest.parent, child: s.latest.child}
	default:
		s.latest = pair{parent: s.find(name), below: s.latest.parent, child: s.latest.child}
	}
	return s.latest.parent
}

func (s *structure) findDependency(name string) int32 {
	switch {
	case s.is(s.latest.below, name):
		s.latest.child = s.latest.below
	case !s.is(s.latest.child, name):
		s.latest.child = s.find(name)
	}
	return s.latest.child
}

// pair remembers an edge that was asked for: its two nodes, and the dependent before that.
type pair struct{ parent, below, child int32 }

// is tells whether a number, which may be any, is that of the node of this name.
func (s *structure) is(id int32, name string) bool {
	return id >= 0 && int(id) < len(s.names) && s.names[id] == name && s.nodes[id].children != removed
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
	s.nodes = push(s.nodes, node{children: none, parents: none})
	s.order.append()
	return nil
}

// push appends, and doubles what is too small: the built-in growth copies large slices, of
// which a graph is made, twice as often.
func push[E any](s []E, e E) []E {
	if len(s) == cap(s) {
		grown := make([]E, len(s), max(minSlots, 2*len(s)))
		copy(grown, s)
		s = grown
	}
	return append(s, e)
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

// disable tells whether it changed anything.
func (s *structure) disable(id int32, disabled bool) bool {
	if s.disabled[id] == disabled {
		return false
	}
	if s.disabled == nil {
		s.disabled = map[int32]bool{}
	}
	if disabled {
		s.disabled[id] = true
	} else {
		delete(s.disabled, id)
	}
	return true
}

// live calls yield for each node that is there, in the order of their insertion.
func (s *structure) live(yield func(id int32) bool) {
	for id := range s.nodes {
		if s.nodes[id].children != removed && !yield(int32(id)) {
			return
		}
	}
}

// write writes the nodes in the order of their insertion, as in "a:[b],b:[]".
func (s *structure) write(b *strings.Builder) {
	separator := ""
	for id := range s.live {
		b.WriteString(separator)
		b.WriteString(s.names[id])
		b.WriteString(":[")
		first := s.nodes[id].children
		for at := first; at != none; at = s.edges[at].nextChild {
			if at != first {
				b.WriteByte(',')
			}
			b.WriteString(s.names[s.edges[at].child])
		}
		b.WriteByte(']')
		separator = ","
	}
}
