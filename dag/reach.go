package dag

import "slices"

// Reaches tells whether dependent waits for dependency, be it by way of others. A node reaches
// itself; a name that isn't in the graph reaches nothing and isn't reached (spec: dag 10).
func (g *Graph[T]) Reaches(dependent, dependency string) bool {
	if g == nil {
		return false
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	from, to := g.structure.find(dependent), g.structure.find(dependency)
	return from != none && to != none && g.structure.reaches(from, to)
}

// Dependencies are the nodes for which a node waits itself, in the order in which that was said.
// For a name that isn't in the graph there are none.
func (g *Graph[T]) Dependencies(name string) []string {
	return g.around(name, func(s *structure, id int32) []int32 { return s.next(nil, id, down) })
}

// Dependents are the nodes that wait for a node themselves, in the order in which that was said.
// For a name that isn't in the graph there are none.
func (g *Graph[T]) Dependents(name string) []string {
	return g.around(name, func(s *structure, id int32) []int32 { return s.next(nil, id, up) })
}

// Descendants are all nodes for which a node waits, itself or by way of others, by ascending
// name: what has to be there before it. It isn't one of them. For a name that isn't in the
// graph there are none.
func (g *Graph[T]) Descendants(name string) []string {
	return sorted(g.around(name, func(s *structure, id int32) []int32 { return s.closure(id, down) }))
}

// Ancestors are all nodes that wait for a node, themselves or by way of others, by ascending
// name: what its failure holds back. It isn't one of them. For a name that isn't in the graph
// there are none.
func (g *Graph[T]) Ancestors(name string) []string {
	return sorted(g.around(name, func(s *structure, id int32) []int32 { return s.closure(id, up) }))
}

// around names what choose finds around a node.
func (g *Graph[T]) around(name string, choose func(s *structure, id int32) []int32) []string {
	if g == nil {
		return nil
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	id := g.structure.find(name)
	if id == none {
		return nil
	}
	var names []string
	for _, other := range choose(&g.structure, id) {
		names = append(names, g.structure.names[other])
	}
	return names
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

// direction is a way along the edges: down to what is waited for, up to what waits.
type direction bool

const (
	down direction = false
	up   direction = true
)

// next appends the neighbours of a node on one side.
func (s *structure) next(ids []int32, id int32, way direction) []int32 {
	if way == up {
		for at := s.nodes[id].parents; at != none; at = s.edges[at].nextParent {
			ids = append(ids, s.edges[at].parent)
		}
		return ids
	}
	for at := s.nodes[id].children; at != none; at = s.edges[at].nextChild {
		ids = append(ids, s.edges[at].child)
	}
	return ids
}

// closure is all that can be reached from a node in one direction, without itself.
func (s *structure) closure(id int32, way direction) []int32 {
	seen := make([]bool, len(s.nodes))
	var found, neighbours []int32
	for at := -1; at < len(found); at++ {
		if at >= 0 {
			id = found[at]
		}
		neighbours = s.next(neighbours[:0], id, way)
		for _, other := range neighbours {
			if !seen[other] {
				seen[other] = true
				found = append(found, other)
			}
		}
	}
	return found
}

// reaches looks only at what the order has between the two nodes: nothing else can be on a way.
func (s *structure) reaches(from, to int32) bool {
	if from == to {
		return true
	}
	if !s.order.before(to, from) {
		return false
	}
	seen := map[int32]bool{}
	path := []int32{from}
	for len(path) > 0 {
		id := path[len(path)-1]
		path = path[:len(path)-1]
		for at := s.nodes[id].children; at != none; at = s.edges[at].nextChild {
			child := s.edges[at].child
			if child == to {
				return true
			}
			if s.order.before(to, child) && !seen[child] {
				seen[child] = true
				path = append(path, child)
			}
		}
	}
	return false
}
