package dag

import (
	"iter"
	"slices"
)

// Reaches reports whether dependent waits for dependency, directly or not. A node reaches itself. An unknown name
// reaches nothing and isn't reached.
func (g *Graph[T]) Reaches(dependent, dependency string) bool {
	s, unlock := g.read()
	defer unlock()
	from, to := s.find(dependent), s.find(dependency)
	return from != none && to != none && s.reaches(from, to)
}

// Dependencies returns the nodes that a node waits for directly, in the order in which the dependencies were added. It
// returns nil for an unknown name.
func (g *Graph[T]) Dependencies(name string) []string { return g.around(name, down, false) }

// Dependents returns the nodes that wait for a node directly, in the order in which the dependencies were added. It
// returns nil for an unknown name.
func (g *Graph[T]) Dependents(name string) []string { return g.around(name, up, false) }

// Descendants returns all nodes that a node waits for, directly or not, sorted by name. It returns nil for an unknown
// name.
func (g *Graph[T]) Descendants(name string) []string { return g.around(name, down, true) }

// Ancestors returns all nodes that wait for a node, directly or not, sorted by name. If the node fails, they aren't
// started. Ancestors returns nil for an unknown name.
func (g *Graph[T]) Ancestors(name string) []string { return g.around(name, up, true) }

// around returns the names of a node's neighbours in one direction, in the order in which the edges were added. If all
// is true, it returns the sorted names of all nodes that can be reached in that direction.
func (g *Graph[T]) around(name string, way direction, all bool) (names []string) {
	s, unlock := g.read()
	defer unlock()
	id := s.find(name)
	if id == none {
		return nil
	}
	found := s.neighbours(id, way)
	if all {
		found = s.closure(id, way)
	}
	for other := range found {
		names = append(names, s.names[other])
	}
	if all {
		slices.Sort(names)
	}
	return names
}

// closure yields all other nodes that can be reached from a node in one direction, nearer ones first.
func (s *structure) closure(id int32, way direction) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		seen := make([]bool, len(s.nodes))
		for queue := []int32{id}; len(queue) > 0; queue = queue[1:] {
			for other := range s.neighbours(queue[0], way) {
				if seen[other] {
					continue
				}
				if seen[other] = true; !yield(other) {
					return
				}
				queue = append(queue, other)
			}
		}
	}
}

// reaches reports whether a path leads down from one node to another. The order often rules out a path without a
// search.
func (s *structure) reaches(from, to int32) bool {
	if from == to || !s.order.before(to, from) {
		return from == to
	}
	for other := range s.closure(from, down) {
		if other == to {
			return true
		}
	}
	return false
}
