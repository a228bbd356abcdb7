package dag_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func TestReaches(t *testing.T) {
	t.Parallel()
	// d waits for b and c, both of them for a; x stands alone.
	g := graphOf(t, []string{"a", "b", "c", "d", "x"},
		[2]string{"d", "b"}, [2]string{"d", "c"}, [2]string{"b", "a"}, [2]string{"c", "a"})
	for _, row := range []struct {
		why, from, to string
		want          bool
	}{
		{"dag 10: a node reaches itself", "a", "a", true},
		{"dag 10: one without dependencies too", "x", "x", true},
		{"dag 10: what it waits for", "b", "a", true},
		{"dag 10: by way of others", "d", "a", true},
		{"dag 10: not what waits for it", "a", "d", false},
		{"dag 10: not its siblings", "b", "c", false},
		{"dag 10: not what has nothing to do with it", "d", "x", false},
		{"dag 10: an unknown name isn't reached", "a", "y", false},
		{"dag 10: an unknown name reaches nothing, not even itself", "y", "y", false},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, g.Reaches(row.from, row.to))
		})
	}
	t.Run("dag 10: what is above and below, directly and at all", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []string{"a", "b", "c"}, g.Descendants("d"))
		assert.Equal(t, []string{"b", "c", "d"}, g.Ancestors("a"))
		assert.Equal(t, []string{"b", "c"}, g.Dependencies("d"))
		assert.Equal(t, []string{"b", "c"}, g.Dependents("a"))
		for _, name := range []string{"x", "y", ""} {
			assert.Empty(t, g.Descendants(name))
			assert.Empty(t, g.Ancestors(name))
			assert.Empty(t, g.Dependencies(name))
			assert.Empty(t, g.Dependents(name))
		}
	})
}

func TestReachesAgainstSearch(t *testing.T) {
	t.Parallel()
	t.Run("dag 6, dag 10: reachability is that of a plain search, whatever came and went", func(t *testing.T) {
		t.Parallel()
		yes := 0
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 10))
			s := newScenario(t, r.IntN, false)
			for _, from := range s.names {
				for _, to := range s.names {
					s.checkReach(t, s.graph, from, to)
					if from != to && s.graph.Reaches(from, to) {
						yes++
					}
				}
			}
		}
		assert.Greater(t, yes, 100, "both answers have to come up")
	})
}

func TestLayers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		why   string
		names []string
		edges [][2]string
		want  [][]string
	}{
		{"no nodes", nil, nil, nil},
		{"one layer, by name", []string{"c", "a", "b"}, nil, [][]string{{"a", "b", "c"}}},
		{"the longest way down counts", []string{"d", "c", "b", "a"},
			[][2]string{{"d", "a"}, {"d", "c"}, {"c", "b"}, {"b", "a"}}, [][]string{{"a"}, {"b"}, {"c"}, {"d"}}},
		{"ascending names in each", []string{"z", "y", "b", "a"},
			[][2]string{{"a", "z"}, {"b", "y"}}, [][]string{{"y", "z"}, {"a", "b"}}},
	} {
		t.Run(row.why, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, row.want, graphOf(t, row.names, row.edges...).Layers())
		})
	}
	t.Run("a disabled node has its place, and what is returned is the caller's", func(t *testing.T) {
		t.Parallel()
		g := graphOf(t, []string{"a", "b"}, [2]string{"b", "a"})
		g.Disable("a")
		g.Layers()[0][0] = "z"
		assert.Equal(t, [][]string{{"a"}, {"b"}}, g.Layers())
	})
	t.Run("200 layers of two, and a chain deeper than any stack", func(t *testing.T) {
		t.Parallel()
		assert.Len(t, layeredDiamond(t, 200).Layers(), 200)
		const n = 100_000
		g, names := numbered(t, n)
		for i := range n - 1 {
			require.NoError(t, g.Depend(names[i+1], names[i]))
		}
		begin := time.Now()
		assert.Len(t, g.Layers(), n)
		assert.True(t, g.Reaches(names[n-1], names[0]))
		assert.False(t, g.Reaches(names[0], names[n-1]))
		assert.Len(t, g.Descendants(names[n-1]), n-1)
		assert.Len(t, g.Ancestors(names[0]), n-1)
		assert.Less(t, time.Since(begin), 10*time.Second)
	})
	t.Run("dag 10: reachability over layers of diamonds isn't exponential", func(t *testing.T) {
		t.Parallel()
		g := layeredDiamond(t, 200)
		require.NoError(t, g.Add("x", "x"))
		require.NoError(t, g.Depend("0000l", "x"))
		begin := time.Now()
		assert.True(t, g.Reaches("0199r", "x"))
		assert.False(t, g.Reaches("0199r", "0199l"))
		assert.Len(t, g.Descendants("0199l"), 399)
		assert.Less(t, time.Since(begin), 5*time.Second)
	})
}

func TestNilGraphQueries(t *testing.T) {
	t.Parallel()
	var g *dag.Graph[int]
	g.Remove("a")
	g.RemoveDependency("a", "b")
	assert.False(t, g.Reaches("a", "a"))
	assert.Empty(t, g.Ancestors("a"))
	assert.Empty(t, g.Descendants("a"))
	assert.Empty(t, g.Dependencies("a"))
	assert.Empty(t, g.Dependents("a"))
	assert.Empty(t, g.Layers())
	assert.Empty(t, g.Nodes())
}
