package dag

import "slices"

// Reaches reports whether dependent waits for dependency, directly or not. A node reaches itself. An unknown name
// reaches nothing and isn't reached.
func (g *Graph[T]) Reaches(dependent, dependency string) bool {
	s, unlock := g.read()
	defer unlock()
	from, to := s.find(dependent), s.find(dependency)
	return from != none && to != none && s.reaches(from, to)
}

// Dependencies returns the nodes that a node waits for directly, in the order in which the dependencies were added. It
// returns none for an unknown name.
func (g *Graph[T]) Dependencies(name string) []string { return g.around(name, down, false) }

// Dependents returns the nodes that wait for a node directly, in the order in which the dependencies were added. It
// returns none for an unknown name.
func (g *Graph[T]) Dependents(name string) []string { return g.around(name, up, false) }

// Descendants returns all nodes that a node waits for, directly or not, sorted by name. It returns none for an unknown
// name.
func (g *Graph[T]) Descendants(name string) []string { return g.around(name, down, true) }

// Ancestors returns all nodes that wait for a node, directly or not, sorted by name. A failure of the node holds them
// back. It returns none for an unknown name.
func (g *Graph[T]) Ancestors(name string) []string { return g.around(name, up, true) }

// around returns the names of a node's neighbours in one direction, in the order in which the edges were added. With
// all, it returns the names of all nodes that can be reached in that direction, sorted.
func (g *Graph[T]) around(name string, way direction, all bool) (names []string) {
	s, unlock := g.read()
	defer unlock()
	id := s.find(name)
	if id == none {
		return nil
	}
	found := s.neighbours(id, way)
	if all {
		found = slices.Values(s.closure(id, way))
	}
	for other := range found {
		names = append(names, s.names[other])
	}
	if all {
		slices.Sort(names)
	}
	return names
}

// closure returns all nodes that can be reached from a node in one direction, without itself.
func (s *structure) closure(id int32, way direction) []int32 {
	seen := make([]bool, len(s.nodes))
	var found []int32
	for at := -1; at < len(found); at++ {
		if at >= 0 {
			id = found[at]
		}
		for other := range s.neighbours(id, way) {
			if !seen[other] {
				seen[other] = true
				found = append(found, other)
			}
		}
	}
	return found
}

// reaches reports whether a path leads down from one node to another. The order often rules it out without a search.
func (s *structure) reaches(from, to int32) bool {
	return from == to || s.order.before(to, from) && slices.Contains(s.closure(from, down), to)
}
