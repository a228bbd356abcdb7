package dag

import (
	"context"
	"fmt"
	"strings"
	"sync"
)

// Graph holds named nodes, each with data of type T, and which of them wait for which.
//
// The zero value is an empty graph ready for use. A nil graph reads as an empty one and can't be
// changed. All methods are safe for concurrent use; a Graph must not be copied.
type Graph[T any] struct {
	mu        sync.RWMutex
	structure structure
	// data only ever grows, so that a snapshot can share it. What is removed stays in it until
	// compact replaces it.
	data []T
	// plan is the structure as runs see it; nil after a change, until it is needed.
	plan *plan
}

// Predicate tells whether a dependent may start although what it waits for is verified. An
// error keeps it from starting for the rest of the run and becomes its error. Predicates are
// called from several goroutines and should end when ctx does.
type Predicate func(ctx context.Context) (bool, error)

// EdgeOption says something about a dependency.
type EdgeOption func(*edgeConfig)

type edgeConfig struct{ when Predicate }

// When lets the dependent start only once predicate has answered true. nil is no predicate.
func When(predicate Predicate) EdgeOption {
	return func(c *edgeConfig) { c.when = predicate }
}

func newEdgeConfig(options []EdgeOption) edgeConfig {
	if len(options) == 0 {
		return edgeConfig{}
	}
	config := &edgeConfig{}
	for _, option := range options {
		if option != nil {
			option(config)
		}
	}
	return *config
}

// New makes an empty graph.
func New[T any]() *Graph[T] { return &Graph[T]{} }

// Add puts a node into the graph. The name is what identifies it; data is for the visits.
//
// Errors: [ErrInvalidNode] for an empty name, [ErrDuplicateNode] for one that is taken, and
// [ErrNilGraph]. The graph is unchanged then (spec: dag 2).
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

// Depend makes dependent wait for dependency. Doing it again replaces the options of the
// dependency that is there, so that the last call wins (spec: dag 6).
//
// Errors: [*UnknownNodeError], [*CycleError] when dependency already waits for dependent, be it
// by way of others, or is dependent itself, and [ErrNilGraph]. The graph is unchanged then.
func (g *Graph[T]) Depend(dependent, dependency string, options ...EdgeOption) error {
	if g == nil {
		return fmt.Errorf("node %q: %w", dependent, ErrNilGraph)
	}
	config := newEdgeConfig(options)
	g.mu.Lock()
	defer g.mu.Unlock()
	parent := g.structure.findDependent(dependent)
	if parent == none {
		return &UnknownNodeError{Name: dependent, Role: RoleParent}
	}
	child := g.structure.findDependency(dependency)
	if child == none {
		return &UnknownNodeError{Name: dependency, Role: RoleChild}
	}
	if err := g.structure.addEdge(parent, child, config.when); err != nil {
		return err
	}
	g.plan = nil
	return nil
}

// Disable keeps a node from being started: it and everything that waits for it end unstarted.
// Doing it twice is the same as once; for a name that isn't in the graph it does nothing
// (spec: dag 16).
func (g *Graph[T]) Disable(name string) { g.setDisabled(name, true) }

// Enable undoes Disable, however often that was called. For a node that isn't disabled, or
// isn't in the graph, it does nothing (spec: dag 16).
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

// Len is the number of nodes.
func (g *Graph[T]) Len() int {
	if g == nil {
		return 0
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.structure.index.count
}

// Names are the names of the nodes in the order in which they were added.
func (g *Graph[T]) Names() []string {
	if g == nil {
		return nil
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	names := make([]string, 0, g.structure.index.count)
	for id := range g.structure.live {
		names = append(names, g.structure.names[id])
	}
	return names
}

// Node returns the data of a node; ok is false when there is no such node.
func (g *Graph[T]) Node(name string) (data T, ok bool) {
	if g == nil {
		return data, false
	}
	g.mu.RLock()
	defer g.mu.RUnlock()
	id := g.structure.find(name)
	if id == none {
		return data, false
	}
	return g.data[id], true
}

// String lists the nodes in the order in which they were added, each with what it waits for in
// the order in which that was said, as in "Graph({web:[db],db:[]})" (spec: dag 11).
func (g *Graph[T]) String() string {
	var b strings.Builder
	b.WriteString("Graph({")
	if g != nil {
		g.mu.RLock()
		defer g.mu.RUnlock()
		g.structure.write(&b)
	}
	b.WriteString("})")
	return b.String()
}
