package dag

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValidateDamaged(t *testing.T) {
	t.Parallel()
	build := func() *Graph[int] {
		g := New[int]()
		for _, name := range []string{"a", "b", "c"} {
			require.NoError(t, g.Add(name, 0))
		}
		require.NoError(t, g.Depend("b", "a"))
		require.NoError(t, g.Depend("c", "b"))
		return g
	}
	for _, row := range []struct {
		why, message string
		damage       func(g *Graph[int])
	}{
		{"a child outside the graph", `node "#7": not in the graph, but named as the child of a dependency: add it first`,
			func(g *Graph[int]) { g.structure.edges[0].ends[1] = 7 }},
		{"a parent outside the graph", `node "#-2": not in the graph, but named as the parent of a dependency: add it first`,
			func(g *Graph[int]) { g.structure.edges[1].ends[0] = -2 }},
		{"an order that the edges contradict", `node "b": ordered before "a", for which it waits: don't copy a graph while it is in use`,
			func(g *Graph[int]) { g.structure.order.moveBehind([]int32{0}, 2) }},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			g := build()
			require.NoError(t, g.Validate())
			row.damage(g)
			g.plan = nil
			require.EqualError(t, g.Validate(), row.message)
			require.Nil(t, g.Topology())
			require.Nil(t, g.Layers())
			require.Equal(t, []Node{{Name: "a"}, {Name: "b"}, {Name: "c"}}, g.Nodes())
			visited := false
			state, err := Run(t.Context(), g, func(_ context.Context, _ string, _ int) error {
				visited = true
				return nil
			}, Concurrency(0))
			require.EqualError(t, err, "run: "+row.message)
			require.Empty(t, state.All())
			require.False(t, visited)
		})
	}
}
