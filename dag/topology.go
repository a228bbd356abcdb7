package dag

import (
	"errors"
	"fmt"
	"slices"
)

// Topology returns the names of all nodes, each behind the nodes that it waits for: the depth-first post-order with
// siblings sorted by name. Apart from sorting, it takes linear time.
func (g *Graph[T]) Topology() []string {
	p, _ := g.snapshot()
	if p.err != nil {
		return nil
	}
	names := make([]string, 0, len(p.names))
	for _, id := range p.postOrder() {
		names = append(names, p.names[id])
	}
	return names
}

// postOrder keeps its own stack instead of recursing, because a chain may be too long for a goroutine's stack.
func (p *plan) postOrder() []int32 {
	_, byName := p.order()
	children := adjacency{p.children.start, slices.Clone(p.children.to)}
	for id := range p.names {
		p.sortByName(children.of(int32(id)))
	}
	next := slices.Clone(children.start[:len(p.names)])
	entered := make([]bool, len(p.names))
	result := make([]int32, 0, len(p.names))
	var path []int32
	for _, root := range byName {
		if entered[root] {
			continue
		}
		entered[root] = true
		path = append(path, root)
		for len(path) > 0 {
			id := path[len(path)-1]
			if next[id] == children.start[id+1] {
				result = append(result, id)
				path = path[:len(path)-1]
				continue
			}
			child := children.to[next[id]]
			next[id]++
			if !entered[child] {
				entered[child] = true
				path = append(path, child)
			}
		}
	}
	return result
}

// Layers returns the names of all nodes in layers. Nodes in the first layer wait for nothing. Nodes in any other layer
// wait for a node in the layer before it, and for none in the same or a later layer. Each layer is sorted by name.
//
// [Run] doesn't wait for whole layers: it starts a node as soon as everything that this node waits for is verified.
func (g *Graph[T]) Layers() [][]string {
	p, _ := g.snapshot()
	if p.err != nil {
		return nil
	}
	depths, count := p.depths()
	layers := append([][]string(nil), make([][]string, count)...) // nil for a graph without nodes
	_, byName := p.order()
	for _, id := range byName {
		layers[depths[id]] = append(layers[depths[id]], p.names[id])
	}
	return layers
}

// depths returns the length of the longest path down from each node, and the number of layers.
func (p *plan) depths() (depths []int32, layers int32) {
	depths = make([]int32, len(p.names))
	waiting := make([]int32, len(p.names))
	ready := make([]int32, 0, len(p.names))
	for id := range p.names {
		waiting[id] = int32(len(p.children.of(int32(id))))
		if waiting[id] == 0 {
			ready = append(ready, int32(id))
		}
	}
	for at := 0; at < len(ready); at++ {
		id := ready[at]
		layers = max(layers, depths[id]+1)
		for _, parent := range p.parents.of(id) {
			depths[parent] = max(depths[parent], depths[id]+1)
			if waiting[parent]--; waiting[parent] == 0 {
				ready = append(ready, parent)
			}
		}
	}
	return depths, layers
}

// Validate checks that each dependency is between two nodes of the graph, and that there is no cycle. Add and Depend
// ensure both. An error means that the graph was damaged, for instance by copying it while it was in use. [Run] returns
// the same error.
func (g *Graph[T]) Validate() error {
	p, _ := g.snapshot()
	return p.err
}

// validate looks at each edge once: an order with every child before its parent proves that there is no cycle.
func (s *structure) validate() error {
	var errs []error
	known := func(id int32) bool { return id >= 0 && int(id) < len(s.nodes) }
	for _, e := range s.edges {
		parent, child := e.ends[0], e.ends[1]
		switch {
		case parent == none: // removed
		case !known(parent):
			errs = append(errs, &UnknownNodeError{Name: fmt.Sprintf("#%d", parent), Role: RoleParent})
		case !known(child):
			errs = append(errs, &UnknownNodeError{Name: fmt.Sprintf("#%d", child), Role: RoleChild})
		case !s.order.before(child, parent):
			errs = append(errs, fmt.Errorf("node %q: ordered before %q, for which it waits: don't copy a graph while it is in use", s.names[parent], s.names[child]))
		}
	}
	return errors.Join(errs...)
}

// Node is a node of [Graph.Nodes].
type Node struct {
	// Name is the name of the node.
	Name string
	// Disabled reports whether the node is disabled.
	Disabled bool
	// Layer is the index of the node's layer in [Graph.Layers].
	Layer int
	// Dependencies are the nodes that the node waits for directly, in the order in which the dependencies were added.
	Dependencies []Dependency
}

// Dependency is a dependency of a [Node].
type Dependency struct {
	// Name is the name of the node that the other node waits for.
	Name string
	// Conditional reports whether the dependency has a predicate.
	Conditional bool
}

// Nodes returns all nodes as they are at one moment, in the order in which they were added.
func (g *Graph[T]) Nodes() []Node {
	p, _ := g.snapshot()
	nodes := make([]Node, len(p.names))
	for id, name := range p.names {
		nodes[id].Name = name
	}
	if p.err != nil {
		return nodes
	}
	depths, _ := p.depths()
	for id := range nodes {
		nodes[id].Disabled, nodes[id].Layer = p.disabled[id], int(depths[id])
		gates := p.gates[int32(id)]
		for _, child := range p.children.of(int32(id)) {
			conditional := len(gates) > 0 && gates[0].child == child
			if conditional {
				gates = gates[1:]
			}
			nodes[id].Dependencies = append(nodes[id].Dependencies, Dependency{p.names[child], conditional})
		}
	}
	return nodes
}
