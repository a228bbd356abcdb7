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
