package dag_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

func nothing(context.Context, string, int) error { return nil }

// numbered is a graph of n nodes, and their names.
func numbered(tb testing.TB, n int) (*dag.Graph[int], []string) {
	tb.Helper()
	g := dag.New[int]()
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
		require.NoError(tb, g.Add(names[i], i))
	}
	return g, names
}

func randomGraph(tb testing.TB, n, edges int) *dag.Graph[int] {
	tb.Helper()
	g, names := numbered(tb, n)
	r := rand.New(rand.NewPCG(1, 2))
	for range edges {
		if a, b := r.IntN(n), r.IntN(n); a != b {
			require.NoError(tb, g.Depend(names[max(a, b)], names[min(a, b)]))
		}
	}
	return g
}

func run(tb testing.TB, g *dag.Graph[int], n int) {
	tb.Helper()
	state, err := dag.Run(tb.Context(), g, nothing, dag.Concurrency(n))
	if err != nil || !state.VerifyCompleted() {
		tb.Fatal(err, state)
	}
}

func TestRunAllocations(t *testing.T) {
	for why, g := range map[string]*dag.Graph[int]{
		"10 000 independent nodes": randomGraph(t, 10_000, 0),
		"50 000 edges":             randomGraph(t, 10_000, 50_000),
	} {
		for name, n := range concurrencies {
			t.Run(why+", "+name, func(t *testing.T) {
				run(t, g, n) // the snapshot is made once per change
				assert.Less(t, testing.AllocsPerRun(5, func() { run(t, g, n) }), 100.0)
			})
		}
	}
}

func BenchmarkRun(b *testing.B) {
	for name, g := range map[string]*dag.Graph[int]{
		"fan":    randomGraph(b, 10_000, 0),
		"random": randomGraph(b, 10_000, 50_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				run(b, g, 8)
			}
		})
	}
}

func BenchmarkBuildChain(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		_, names := numbered(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g := dag.New[int]()
				for i, name := range names {
					_ = g.Add(name, i)
					if i > 0 {
						_ = g.Depend(name, names[i-1])
					}
				}
				run(b, g, 8)
			}
		})
	}
}

func BenchmarkBuildRandom(b *testing.B) {
	const n = 10_000
	_, names := numbered(b, n)
	for why, hidden := range map[string][]int{
		"in order":     nil,
		"in any order": rand.New(rand.NewPCG(3, 4)).Perm(n),
	} {
		b.Run(why, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				g := dag.New[int]()
				for i, name := range names {
					_ = g.Add(name, i)
				}
				r := rand.New(rand.NewPCG(5, 6))
				for range 50_000 {
					p, c := r.IntN(n), r.IntN(n)
					if p == c {
						continue
					}
					if hidden == nil && p < c || hidden != nil && hidden[p] < hidden[c] {
						p, c = c, p
					}
					if err := g.Depend(names[p], names[c]); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkObservedRun(b *testing.B) {
	g := randomGraph(b, 10_000, 50_000)
	events := 0
	b.ReportAllocs()
	for b.Loop() {
		_, err := dag.Run(b.Context(), g, nothing, dag.Concurrency(8), dag.Observe(func(dag.Event) { events++ }))
		if err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkQueries(b *testing.B) {
	g := randomGraph(b, 10_000, 50_000)
	for name, query := range map[string]func(){
		"Reaches":     func() { g.Reaches("n9999", "n0") },
		"Descendants": func() { g.Descendants("n9999") },
		"Topology":    func() { g.Topology() },
		"Layers":      func() { g.Layers() },
		"Nodes":       func() { g.Nodes() },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				query()
			}
		})
	}
}

// BenchmarkRemove takes one node after another out of a graph and puts it back.
func BenchmarkRemove(b *testing.B) {
	g := randomGraph(b, 10_000, 50_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		name := fmt.Sprint("n", i%10_000)
		g.Remove(name)
		if err := g.Add(name, i); err != nil {
			b.Fatal(err)
		}
	}
}
