package dag

// Remove takes a node out of the graph, with all dependencies in which it stands: what waited
// for it doesn't any more, and what it waited for may start without regard to it. For a name
// that isn't in the graph it does nothing (spec: dag 6). Runs that are going on aren't touched.
//
// The data of a removed node is let go by the next run or Topology, or once more nodes have
// been removed than are left.
func (g *Graph[T]) Remove(name string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.structure.removeNode(name) {
		return
	}
	g.plan = nil
	if g.structure.sparse() {
		g.compact()
	}
}

// RemoveDependency lets dependent start without regard to dependency. For a dependency that
// isn't there it does nothing (spec: dag 6). One by way of other nodes stays.
func (g *Graph[T]) RemoveDependency(dependent, dependency string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	parent, child := g.structure.find(dependent), g.structure.find(dependency)
	if parent == none || child == none {
		return
	}
	if at := g.structure.findEdge(parent, child); at != none {
		g.structure.removeEdge(at)
		g.plan = nil
	}
}

// compact lets go what removed nodes have left behind. Snapshots keep what they share.
func (g *Graph[T]) compact() {
	data := make([]T, 0, g.structure.index.count)
	for id := range g.structure.live {
		data = append(data, g.data[id])
	}
	g.data = data
	g.structure.compact()
}

// removeNode tells whether there was such a node.
func (s *structure) removeNode(name string) bool {
	id, hash := s.index.find(s.names, name)
	if id == none {
		return false
	}
	n := &s.nodes[id]
	for n.children != none {
		s.removeEdge(n.children)
	}
	for n.parents != none {
		s.removeEdge(n.parents)
	}
	*n = node{children: removed, parents: removed}
	s.order.unlink(id)
	s.index.remove(id, hash)
	delete(s.disabled, id)
	return true
}

// gone is the number of removed nodes that still take up room.
func (s *structure) gone() int { return len(s.nodes) - s.index.count }

// sparse tells whether a compaction costs no more than the removals since the last one.
func (s *structure) sparse() bool { return s.gone() > max(minSlots, s.index.count) }

// compact numbers the nodes that are left anew, without gaps and in the same order.
func (s *structure) compact() {
	numbers := make([]int32, len(s.nodes))
	for id := range numbers {
		numbers[id] = none
	}
	names := make([]string, 0, s.index.count)
	disabled := make(map[int32]bool, len(s.disabled))
	for id := range s.live {
		number := int32(len(names))
		numbers[id] = number
		names = append(names, s.names[id])
		s.nodes[number] = s.nodes[id]
		if s.disabled[id] {
			disabled[number] = true
		}
	}
	s.order.renumber(numbers, len(names))
	s.nodes, s.names, s.disabled = s.nodes[:len(names)], names, disabled
	s.index.renumber(numbers)
	for at := range s.edges {
		if e := &s.edges[at]; e.parent != none {
			e.parent, e.child = numbers[e.parent], numbers[e.child]
		}
	}
	s.search.marks = s.search.marks[:0]
}
