package dag_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestRemove(t *testing.T) {
	t.Parallel()
	edges := [][2]string{{"b", "a"}, {"c", "b"}, {"d", "c"}, {"d", "a"}, {"d", "b"}}
	for _, row := range []struct {
		why    string
		change func(g *dag.Graph[string])
		want   string
	}{
		{"dag 6: a node in the middle goes with both sides", func(g *dag.Graph[string]) { g.Remove("b") },
			"Graph({a:[],c:[],d:[c,a]})"},
		{"dag 6: the first node", func(g *dag.Graph[string]) { g.Remove("a") }, "Graph({b:[],c:[b],d:[c,b]})"},
		{"dag 6: the last node", func(g *dag.Graph[string]) { g.Remove("d") }, "Graph({a:[],b:[a],c:[b]})"},
		{"dag 6: a node that isn't there", func(g *dag.Graph[string]) { g.Remove("x"); g.Remove("") },
			"Graph({a:[],b:[a],c:[b],d:[c,a,b]})"},
		{"dag 6: all of them", func(g *dag.Graph[string]) { g.Remove("c"); g.Remove("a"); g.Remove("d"); g.Remove("b"); g.Remove("b") },
			"Graph({})"},
		{"dag 6: the first edge of a node", func(g *dag.Graph[string]) { g.RemoveDependency("d", "c") },
			"Graph({a:[],b:[a],c:[b],d:[a,b]})"},
		{"dag 6: one in the middle", func(g *dag.Graph[string]) { g.RemoveDependency("d", "a") },
			"Graph({a:[],b:[a],c:[b],d:[c,b]})"},
		{"dag 6: the last one", func(g *dag.Graph[string]) { g.RemoveDependency("d", "b") },
			"Graph({a:[],b:[a],c:[b],d:[c,a]})"},
		{"dag 6: the only one", func(g *dag.Graph[string]) { g.RemoveDependency("c", "b") },
			"Graph({a:[],b:[a],c:[],d:[c,a,b]})"},
		{"dag 6: edges that aren't there: other way round, indirect, of unknown nodes, of a node to itself",
			func(g *dag.Graph[string]) {
				for _, e := range [][2]string{{"a", "b"}, {"c", "a"}, {"x", "a"}, {"a", "x"}, {"", ""}, {"a", "a"}} {
					g.RemoveDependency(e[0], e[1])
				}
			}, "Graph({a:[],b:[a],c:[b],d:[c,a,b]})"},
		{"dag 6: made again it is the last one", func(g *dag.Graph[string]) {
			g.RemoveDependency("d", "c")
			_ = g.Depend("d", "c")
		}, "Graph({a:[],b:[a],c:[b],d:[a,b,c]})"},
		{"dag 6: a node added again is a new one", func(g *dag.Graph[string]) {
			g.Disable("b")
			g.Remove("b")
			_ = g.Add("b", "b")
		}, "Graph({a:[],c:[],d:[c,a],b:[]})"},
		{"dag 5: what would have been a cycle may be made once its way is gone", func(g *dag.Graph[string]) {
			g.Remove("d")
			g.RemoveDependency("b", "a")
			_ = g.Depend("a", "c")
		}, "Graph({a:[c],b:[],c:[b]})"},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			for _, snapshot := range []bool{false, true} {
				g := graphOf(t, []string{"a", "b", "c", "d"}, edges...)
				if snapshot {
					g.Topology()
				}
				row.change(g)
				require.Equal(t, row.want, g.String())
				require.Len(t, g.Names(), g.Len())
				require.NoError(t, g.Validate())
				r := &recorder{}
				state, err := dag.Run(t.Context(), g, r.visit)
				require.NoError(t, err)
				require.ElementsMatch(t, g.Names(), state.Verified())
				require.ElementsMatch(t, g.Names(), r.order())
				require.Equal(t, row.want, g.String(), "after the snapshot")
				for _, name := range g.Names() {
					data, ok := g.Node(name)
					require.True(t, ok)
					require.Equal(t, name, data)
				}
			}
		})
	}
	t.Run("dag 6: a removed dependency takes its predicate with it", func(t *testing.T) {
		t.Parallel()
		never := dag.When(func(context.Context) (bool, error) { return false, nil })
		g := graphOf(t, []string{"a", "b", "c"})
		require.NoError(t, g.Depend("b", "a", never))
		g.RemoveDependency("b", "a")
		require.NoError(t, g.Depend("c", "a"))
		require.NoError(t, g.Depend("b", "a"))
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"a", "b", "c"}, state.Verified())
	})
	t.Run("dag 6: what is disabled stays so when others go", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b", "c"})
		g.Disable("c")
		g.Remove("a")
		state, err := dag.Run(t.Context(), g, nil)
		require.NoError(t, err)
		assert.Equal(t, []string{"b"}, state.Verified())
		assert.Equal(t, "disabled", state.Reason("c"))
	})
}

func TestRemoveDuringRun(t *testing.T) {
	t.Parallel()
	t.Run("dag 6, dag 22: a run keeps the nodes, edges and data that it began with", func(t *testing.T) {
		t.Parallel()
		eachConcurrency(t, func(t *testing.T, concurrency dag.Option) {
			g := layeredDiamond(t, 30)
			names := g.Names()
			r := &recorder{before: func(_ context.Context, name string) {
				g.Remove(name)
				g.Topology() // lets go what was removed
				assert.NoError(t, g.Add(name, "another"))
			}}
			state, err := dag.Run(t.Context(), g, func(ctx context.Context, name string, data string) error {
				assert.Equal(t, name, data)
				return r.visit(ctx, name, data)
			}, concurrency)
			require.NoError(t, err)
			assert.ElementsMatch(t, names, state.Verified())
			assert.Equal(t, 60, g.Len())
			assert.Len(t, g.Layers(), 1)
		})
	})
	t.Run("a state keeps its names", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b", "c"}, [2]string{"c", "b"})
		state, err := dag.Run(t.Context(), g, (&recorder{answers: map[string]error{"b": errBoom}}).visit)
		require.NoError(t, err)
		for _, name := range g.Names() {
			g.Remove(name)
			require.NoError(t, g.Add(name+name, ""))
			g.Topology()
		}
		assert.Equal(t, []string{"a", "b", "c"}, state.All())
		assert.Equal(t, "waits for b (failed)", state.Reason("c"))
		assert.Equal(t, errBoom, state.Err("b"))
	})
}

// TestRemoveTime guards removal from a search over all of the neighbours, and what stays behind
// from growing.
func TestRemoveTime(t *testing.T) {
	t.Parallel()
	const n = 100_000
	for why, order := range map[string]func(i int) int{
		"forward":  func(i int) int { return i },
		"backward": func(i int) int { return n - 1 - i },
		"in any order": func() func(i int) int {
			p := rand.New(rand.NewPCG(7, 7)).Perm(n)
			return func(i int) int { return p[i] }
		}(),
	} {
		t.Run("dag 6: the dependents of one node go, and come again, at once: "+why, func(t *testing.T) {
			begin := time.Now()
			g, names := numbered(t, n)
			require.NoError(t, g.Add("hub", 0))
			for round := range 2 {
				for _, name := range names {
					require.NoError(t, g.Depend(name, "hub"))
				}
				for i := range names {
					if name := names[order(i)]; round == 0 {
						g.RemoveDependency(name, "hub")
					} else {
						g.Remove(name)
					}
				}
			}
			assert.Equal(t, "Graph({hub:[]})", g.String())
			assert.Less(t, time.Since(begin), 20*time.Second)
		})
	}
	t.Run("dag 6: a graph whose nodes come and go without a run", func(t *testing.T) {
		t.Parallel()
		begin := time.Now()
		g := dag.New[int]()
		for i := range n { // by the square of them it would take minutes
			require.NoError(t, g.Add(fmt.Sprint(i), i))
			if i >= 100 {
				require.NoError(t, g.Depend(fmt.Sprint(i), fmt.Sprint(i-1)))
				g.Remove(fmt.Sprint(i - 100))
			}
		}
		assert.Equal(t, 100, g.Len())
		assert.Len(t, g.Topology(), 100)
		assert.Less(t, time.Since(begin), 20*time.Second)
	})
}
