package dag_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// model is a graph as the specification describes it, without any thought of speed.
type model struct {
	names    []string
	children map[string][]string
	disabled map[string]bool
}

func newModel() *model {
	return &model{children: map[string][]string{}, disabled: map[string]bool{}}
}

func (m *model) has(name string) bool { return slices.Contains(m.names, name) }

func (m *model) add(name string) {
	m.names = append(m.names, name)
	m.children[name] = nil
}

func (m *model) remove(name string) {
	m.names = slices.DeleteFunc(m.names, func(n string) bool { return n == name })
	delete(m.children, name)
	delete(m.disabled, name)
	for dependent := range m.children {
		m.removeDependency(dependent, name)
	}
}

func (m *model) removeDependency(dependent, dependency string) {
	if m.has(dependent) {
		m.children[dependent] = slices.DeleteFunc(m.children[dependent], func(n string) bool { return n == dependency })
	}
}

// reaches tells whether to is a node that from waits for, or from itself.
func (m *model) reaches(from, to string) bool {
	seen := map[string]bool{}
	var walk func(name string) bool
	walk = func(name string) bool {
		if name == to {
			return true
		}
		if seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(m.children[name], walk)
	}
	return walk(from)
}

// checkDepend does the same to the graph and the model, checks that the graph answers as it has
// to, and tells whether there is that edge now.
func (m *model) checkDepend(tb testing.TB, g *dag.Graph[string], dependent, dependency string) bool {
	tb.Helper()
	err := g.Depend(dependent, dependency)
	switch {
	case !m.has(dependent):
		requireUnknown(tb, err, dependent, dag.RoleParent)
		return false
	case !m.has(dependency):
		requireUnknown(tb, err, dependency, dag.RoleChild)
		return false
	case m.reaches(dependency, dependent):
		m.requireCycle(tb, err, dependent, dependency)
		return false
	}
	require.NoError(tb, err)
	if !slices.Contains(m.children[dependent], dependency) {
		m.children[dependent] = append(m.children[dependent], dependency)
	}
	return true
}

func requireUnknown(tb testing.TB, err error, name string, role dag.Role) {
	tb.Helper()
	var unknown *dag.UnknownNodeError
	require.True(tb, errors.As(err, &unknown), "%v", err)
	require.Equal(tb, dag.UnknownNodeError{Name: name, Role: role}, *unknown)
}

// requireCycle checks that the path is a cycle that the edge would close.
func (m *model) requireCycle(tb testing.TB, err error, dependent, dependency string) {
	tb.Helper()
	var cycle *dag.CycleError
	require.True(tb, errors.As(err, &cycle), "%v", err)
	path := cycle.Path
	require.GreaterOrEqual(tb, len(path), 2)
	require.Equal(tb, dependent, path[0])
	require.Equal(tb, dependency, path[1])
	require.Equal(tb, dependent, path[len(path)-1])
	for i := 1; i < len(path)-1; i++ {
		require.Contains(tb, m.children[path[i]], path[i+1])
	}
}

// checkReach checks what the graph says about two names, in the graph or not.
func (m *model) checkReach(tb testing.TB, g *dag.Graph[string], from, to string) {
	tb.Helper()
	require.Equal(tb, m.has(from) && m.has(to) && m.reaches(from, to), g.Reaches(from, to), "dag 10")
	var below, above, parents []string
	for _, name := range slices.Sorted(slices.Values(m.names)) {
		if name != from && m.has(from) && m.reaches(from, name) {
			below = append(below, name)
		}
		if name != from && m.has(from) && m.reaches(name, from) {
			above = append(above, name)
		}
		if slices.Contains(m.children[name], from) {
			parents = append(parents, name)
		}
	}
	require.Equal(tb, below, g.Descendants(from))
	require.Equal(tb, above, g.Ancestors(from))
	require.True(tb, slices.Equal(m.children[from], g.Dependencies(from)))
	require.ElementsMatch(tb, parents, g.Dependents(from))
}

// layers is the longest way down, by recursion.
func (m *model) layers() (layers [][]string) {
	var depth func(name string) int
	depth = func(name string) (deepest int) {
		for _, child := range m.children[name] {
			deepest = max(deepest, depth(child)+1)
		}
		return deepest
	}
	for _, name := range slices.Sorted(slices.Values(m.names)) {
		for len(layers) <= depth(name) {
			layers = append(layers, nil)
		}
		layers[depth(name)] = append(layers[depth(name)], name)
	}
	return layers
}

// topology is rule 9 by the book.
func (m *model) topology() []string {
	result := []string{}
	seen := map[string]bool{}
	var walk func(names []string)
	walk = func(names []string) {
		for _, name := range slices.Sorted(slices.Values(names)) {
			if !seen[name] {
				seen[name] = true
				walk(m.children[name])
				result = append(result, name)
			}
		}
	}
	walk(m.names)
	return result
}

// String is rule 11 by the book.
func (m *model) String() string {
	parts := make([]string, len(m.names))
	for i, name := range m.names {
		parts[i] = name + ":[" + strings.Join(m.children[name], ",") + "]"
	}
	return "Graph({" + strings.Join(parts, ",") + "})"
}
