package dag

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// Graph holds named nodes, each with data of type T, and the dependencies between them.
//
// The zero value is an empty graph, ready for use. A nil graph behaves like an empty graph that can't be changed. All
// methods are safe for concurrent use. A Graph must not be copied.
type Graph[T any] struct {
	mu        sync.RWMutex
	structure structure
	// data only grows, so that snapshots can share it. The data of removed nodes stay in it until compact replaces it.
	data []T
	// plan is the snapshot that runs use. It is nil after a change.
	plan *plan
}

// Predicate reports whether a dependent may start. It is called when everything that the dependent waits for is
// verified. An error keeps the dependent from starting for the rest of the run, and becomes the dependent's error.
// Predicates are called from several goroutines, and should return when ctx ends.
type Predicate func(ctx context.Context) (bool, error)

// EdgeOption is an option of a dependency. A nil option is ignored.
type EdgeOption func(*edgeConfig)

type edgeConfig struct{ when Predicate }

// When lets the dependent start only once predicate has returned true. A nil predicate sets no condition.
func When(predicate Predicate) EdgeOption {
	return func(c *edgeConfig) { c.when = predicate }
}

func newEdgeConfig(options []EdgeOption) edgeConfig {
	if len(options) == 0 {
		return edgeConfig{} // without allocating
	}
	config := &edgeConfig{}
	for _, option := range options {
		if option != nil {
			option(config)
		}
	}
	return *config
}

// New returns an empty graph.
func New[T any]() *Graph[T] { return &Graph[T]{} }

// Add adds a node. The name identifies it; data is passed to visits.
//
// Errors are [ErrInvalidNode] for an empty name, [ErrDuplicateNode] for a name that is taken, and [ErrNilGraph]. They
// leave the graph unchanged.
func (g *Graph[T]) Add(name string, data T) error {
	if g == nil {
		return fmt.Errorf("node %q: %w", name, ErrNilGraph)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.structure.addNode(name); err != nil {
		return fmt.Errorf("node %q: %w", name, err)
	}
	g.data = push(g.data, data)
	g.plan = nil
	return nil
}

// Depend makes dependent wait for dependency. If dependent waits for it already, Depend replaces the options.
//
// Errors are [*UnknownNodeError], [ErrNilGraph], and [*CycleError] if dependency is the same node as dependent or waits
// for it, directly or not. They leave the graph unchanged.
func (g *Graph[T]) Depend(dependent, dependency string, options ...EdgeOption) error {
	if g == nil {
		return fmt.Errorf("node %q: %w", dependent, ErrNilGraph)
	}
	config := newEdgeConfig(options)
	g.mu.Lock()
	defer g.mu.Unlock()
	parent := g.structure.find(dependent)
	if parent == none {
		return &UnknownNodeError{Name: dependent, Role: RoleParent}
	}
	child := g.structure.find(dependency)
	if child == none {
		return &UnknownNodeError{Name: dependency, Role: RoleChild}
	}
	if err := g.structure.addEdge(parent, child, config.when); err != nil {
		return err
	}
	g.plan = nil
	return nil
}

// Remove removes a node, the dependencies of others on it, and its own dependencies. It does nothing for an unknown
// name. Runs in progress aren't affected.
//
// The graph releases the data of removed nodes in the next run, or in the next call of Topology, Layers, Nodes or
// Validate. It also releases them in Remove, when more than 16 nodes, and more nodes than are left, have been removed.
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

// RemoveDependency removes the direct dependency of dependent on dependency. It does nothing if there is no such
// dependency.
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

// compact releases the memory of removed nodes. Snapshots keep the slices that they share with the graph.
func (g *Graph[T]) compact() {
	data := make([]T, 0, g.structure.index.count)
	for id := range g.structure.live {
		data = append(data, g.data[id])
	}
	g.data = data
	g.structure.compact()
}

// Disable keeps a node from being started: the node and everything that waits for it end unstarted. Disabling a node
// twice is the same as once. Disable does nothing for an unknown name.
func (g *Graph[T]) Disable(name string) { g.setDisabled(name, true) }

// Enable undoes all calls of Disable for a node. It does nothing for a node that isn't disabled, or for an unknown
// name.
func (g *Graph[T]) Enable(name string) { g.setDisabled(name, false) }

func (g *Graph[T]) setDisabled(name string, disabled bool) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if id := g.structure.find(name); id != none && g.structure.disable(id, disabled) {
		g.plan = nil
	}
}

// read returns the structure, locked for reading. The structure of a nil graph is empty.
func (g *Graph[T]) read() (s *structure, unlock func()) {
	if g == nil {
		return &structure{}, func() {}
	}
	g.mu.RLock()
	return &g.structure, g.mu.RUnlock
}

// Len returns the number of nodes.
func (g *Graph[T]) Len() int {
	s, unlock := g.read()
	defer unlock()
	return s.index.count
}

// Names returns the names of the nodes in the order in which they were added.
func (g *Graph[T]) Names() []string {
	s, unlock := g.read()
	defer unlock()
	names := make([]string, 0, s.index.count)
	for id := range s.live {
		names = append(names, s.names[id])
	}
	return names
}

// Node returns the data of a node. ok is false if there is no such node.
func (g *Graph[T]) Node(name string) (data T, ok bool) {
	s, unlock := g.read()
	defer unlock()
	id := s.find(name)
	if id == none {
		return data, false
	}
	return g.data[id], true
}

// String lists the nodes in the order in which they were added, each with the nodes that it waits for, as in
// "Graph({web:[db],db:[]})".
func (g *Graph[T]) String() string {
	s, unlock := g.read()
	defer unlock()
	var b strings.Builder
	b.WriteString("Graph({")
	s.write(&b)
	b.WriteString("})")
	return b.String()
}
