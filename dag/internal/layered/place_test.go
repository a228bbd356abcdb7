package layered

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// random is a graph of so many nodes.
func random(r *rand.Rand, nodes, edges int) Graph {
	g := Graph{Height: 20}
	for range nodes {
		g.Depths = append(g.Depths, int32(r.IntN(5)))
		g.Widths = append(g.Widths, 20+100*r.Float64())
	}
	for range edges {
		from, to := int32(r.IntN(nodes)), int32(r.IntN(nodes))
		if g.Depths[from] > g.Depths[to] {
			g.Edges = append(g.Edges, [2]int32{from, to})
		}
	}
	return g
}

func TestPlace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		g := random(r, 1+r.IntN(20), r.IntN(40))
		p := Place(g)
		for a, at := range p.Nodes {
			assert.GreaterOrEqual(t, at.X, float64(margin))
			assert.LessOrEqual(t, at.X+g.Widths[a], p.Width-margin+1e-6)
			assert.GreaterOrEqual(t, at.Y-g.Height/2, margin-1e-6)
			assert.LessOrEqual(t, at.Y+g.Height/2, p.Height-margin+1e-6)
			for b := range a {
				other := p.Nodes[b]
				if g.Depths[a] == g.Depths[b] {
					assert.Equal(t, at.X, other.X, "layers stand below each other")
					assert.GreaterOrEqual(t, max(at.Y-other.Y, other.Y-at.Y), g.Height+below-1e-6, "and have room between them")
				} else if g.Depths[a] > g.Depths[b] {
					assert.Less(t, at.X+g.Widths[a], other.X, "what is deeper is on the left")
				}
			}
		}
		for i, edge := range g.Edges {
			points, from, to := p.Edges[i], p.Nodes[edge[0]], p.Nodes[edge[1]]
			assert.Len(t, points, 2*int(g.Depths[edge[0]]-g.Depths[edge[1]]))
			assert.Equal(t, Point{from.X + g.Widths[edge[0]], from.Y}, points[0])
			assert.Equal(t, to, points[len(points)-1])
			for j := 1; j < len(points); j++ {
				assert.GreaterOrEqual(t, points[j].X, points[j-1].X)
				if j%2 == 0 {
					assert.Equal(t, points[j].Y, points[j-1].Y, "it passes a layer level")
				}
			}
		}
	}
	assert.Equal(t, Picture{Width: 2 * margin, Nodes: []Point{}, Edges: [][]Point{}}, Place(Graph{}), "nothing is a picture too")
}

// naive counts crossings as one would say it.
func naive(layers [][]*item) (sum int) {
	for _, layer := range layers {
		for _, a := range layer {
			for _, b := range layer {
				for _, c := range a.right {
					for _, d := range b.right {
						if a.at < b.at && c.at > d.at {
							sum++
						}
					}
				}
			}
		}
	}
	return sum
}

func TestUntangle(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		layers, _ := random(r, 2+r.IntN(20), r.IntN(40)).split()
		number(layers)
		before := crossings(layers)
		assert.Equal(t, naive(layers), before)
		untangle(layers)
		after := crossings(layers)
		assert.Equal(t, naive(layers), after)
		assert.LessOrEqual(t, after, before, "it never gets worse")
	}
	// Two strands that were given crosswise.
	layers, _ := Graph{Depths: []int32{1, 1, 0, 0}, Edges: [][2]int32{{0, 3}, {1, 2}}, Widths: make([]float64, 4)}.split()
	number(layers)
	assert.Equal(t, 1, crossings(layers))
	untangle(layers)
	assert.Zero(t, crossings(layers))
}

func TestStraight(t *testing.T) {
	t.Parallel()
	p := Place(Graph{Depths: []int32{2, 1, 0}, Edges: [][2]int32{{0, 1}, {1, 2}, {0, 2}}, Widths: []float64{10, 10, 10}, Height: 10})
	assert.InDelta(t, p.Nodes[0].Y, p.Nodes[2].Y, 30, "a chain is about level")
	assert.NotEqual(t, p.Edges[2][1].Y, p.Nodes[1].Y, "an edge passes a node, not through it")
}
