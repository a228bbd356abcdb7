package dag_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestCycles(t *testing.T) {
	t.Parallel()
	chain := [][2]string{{"b", "a"}, {"c", "b"}, {"d", "c"}}
	for _, row := range []struct {
		why                   string
		edges                 [][2]string
		dependent, dependency string
		path                  []string
	}{
		{"dag 5: a self edge is a cycle", nil, "a", "a", []string{"a", "a"}},
		{"dag 5: two nodes", chain[:1], "a", "b", []string{"a", "b", "a"}},
		{"dag 5: three nodes", chain[:2], "a", "c", []string{"a", "c", "b", "a"}},
		{"dag 5: four nodes", chain, "a", "d", []string{"a", "d", "c", "b", "a"}},
		{"dag 5: from the middle of a chain", chain, "b", "d", []string{"b", "d", "c", "b"}},
		{"dag 5: the shortest of several", append(chain[:3:3], [2]string{"d", "a"}), "a", "d", []string{"a", "d", "a"}},
		{"dag 10: a node reaches itself", chain, "c", "c", []string{"c", "c"}},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			g := graphOf(t, []string{"a", "b", "c", "d"}, row.edges...)
			before, topology := g.String(), g.Topology()
			err := g.Depend(row.dependent, row.dependency)
			var cycle *dag.CycleError
			require.ErrorAs(t, err, &cycle)
			assert.Equal(t, row.path, cycle.Path)
			assert.Equal(t, before, g.String(), "the graph is unchanged")
			assert.Equal(t, topology, g.Topology())
			assert.NoError(t, g.Validate())
		})
	}
	t.Run("the message shows the path", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b", "c"}, chain[:2]...)
		assert.EqualError(t, g.Depend("a", "c"), `node "a": would wait for itself: a -> c -> b -> a`)
	})
}

// TestCyclesAgainstSearch builds random graphs and asks a plain search what Depend should say.
func TestCyclesAgainstSearch(t *testing.T) {
	t.Parallel()
	t.Run("dag 5, dag 10: refused exactly when the dependent is reachable from the dependency", func(t *testing.T) {
		t.Parallel()
		refused := 0
		for seed := range uint64(300) {
			r := rand.New(rand.NewPCG(seed, 5))
			n := 2 + r.IntN(12)
			m := newModel()
			g := dag.New[string]()
			for i := range n {
				name := fmt.Sprint("n", i)
				m.add(name)
				require.NoError(t, g.Add(name, name))
			}
			for range 3 * n {
				a, b := fmt.Sprint("n", r.IntN(n)), fmt.Sprint("n", r.IntN(n))
				if !m.checkDepend(t, g, a, b) {
					refused++
				}
			}
			require.Equal(t, m.String(), g.String())
			require.Equal(t, m.topology(), g.Topology())
			require.NoError(t, g.Validate())
		}
		assert.Greater(t, refused, 1000, "cycles have to be tried as well")
	})
}

// TestBuildTime guards the incremental order: with a search over the graph per insertion the
// larger one takes minutes.
func TestBuildTime(t *testing.T) {
	t.Parallel()
	const n = 100_000
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	shuffled := rand.New(rand.NewPCG(1, 1)).Perm(n - 1)
	for why, depend := range map[string]func(g *dag.Graph[int], i int) error{
		"forward":                func(g *dag.Graph[int], i int) error { return g.Depend(names[i+1], names[i]) },
		"backward":               func(g *dag.Graph[int], i int) error { return g.Depend(names[i], names[i+1]) },
		"backward from its end":  func(g *dag.Graph[int], i int) error { return g.Depend(names[n-2-i], names[n-1-i]) },
		"in any order":           func(g *dag.Graph[int], i int) error { return g.Depend(names[shuffled[i]+1], names[shuffled[i]]) },
		"in any order, backward": func(g *dag.Graph[int], i int) error { return g.Depend(names[shuffled[i]], names[shuffled[i]+1]) },
		"one waits for all":      func(g *dag.Graph[int], i int) error { return g.Depend(names[0], names[i+1]) },
		"all wait for one":       func(g *dag.Graph[int], i int) error { return g.Depend(names[i], names[n-1]) },
	} {
		t.Run("dag 5: chains and stars of 100 000 nodes are built at once: "+why, func(t *testing.T) {
			begin := time.Now()
			g := dag.New[int]()
			for i, name := range names {
				if err := g.Add(name, i); err != nil {
					t.Fatal(err)
				}
			}
			for i := range n - 1 {
				if err := depend(g, i); err != nil {
					t.Fatal(err)
				}
			}
			assert.Len(t, g.Topology(), n)
			assert.Less(t, time.Since(begin), 20*time.Second)
		})
	}
}
