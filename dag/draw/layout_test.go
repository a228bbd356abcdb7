package draw

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// random is a graph of so many nodes.
func random(r *rand.Rand, nodes, edges int) graph {
	g := graph{height: 20}
	for range nodes {
		g.depths = append(g.depths, int(r.IntN(5)))
		g.widths = append(g.widths, 20+100*r.Float64())
	}
	for range edges {
		from, to := int(r.IntN(nodes)), int(r.IntN(nodes))
		if g.depths[from] > g.depths[to] {
			g.edges = append(g.edges, [2]int{from, to})
		}
	}
	return g
}

func TestPlace(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		g := random(r, 1+r.IntN(20), r.IntN(40))
		p := layout(g)
		for a, at := range p.nodes {
			assert.GreaterOrEqual(t, at.x, float64(margin))
			assert.LessOrEqual(t, at.x+g.widths[a], p.width-margin+1e-6)
			assert.GreaterOrEqual(t, at.y-g.height/2, margin-1e-6)
			assert.LessOrEqual(t, at.y+g.height/2, p.height-margin+1e-6)
			for b := range a {
				other := p.nodes[b]
				if g.depths[a] == g.depths[b] {
					assert.Equal(t, at.x, other.x, "layers stand below each other")
					assert.GreaterOrEqual(t, max(at.y-other.y, other.y-at.y), g.height+below-1e-6, "and have room between them")
				} else if g.depths[a] > g.depths[b] {
					assert.Less(t, at.x+g.widths[a], other.x, "what is deeper is on the left")
				}
			}
		}
		for i, edge := range g.edges {
			points, from, to := p.edges[i], p.nodes[edge[0]], p.nodes[edge[1]]
			assert.Len(t, points, 2*int(g.depths[edge[0]]-g.depths[edge[1]]))
			assert.Equal(t, point{from.x + g.widths[edge[0]], from.y}, points[0])
			assert.Equal(t, to, points[len(points)-1])
			for j := 1; j < len(points); j++ {
				assert.GreaterOrEqual(t, points[j].x, points[j-1].x)
				if j%2 == 0 {
					assert.Equal(t, points[j].y, points[j-1].y, "it passes a layer level")
				}
			}
		}
	}
	assert.Equal(t, picture{width: 2 * margin, nodes: []point{}, edges: [][]point{}}, layout(graph{}), "nothing is a picture too")
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
	layers, _ := graph{depths: []int{1, 1, 0, 0}, edges: [][2]int{{0, 3}, {1, 2}}, widths: make([]float64, 4)}.split()
	number(layers)
	assert.Equal(t, 1, crossings(layers))
	untangle(layers)
	assert.Zero(t, crossings(layers))
}

func TestStraight(t *testing.T) {
	t.Parallel()
	p := layout(graph{depths: []int{2, 1, 0}, edges: [][2]int{{0, 1}, {1, 2}, {0, 2}}, widths: []float64{10, 10, 10}, height: 10})
	assert.InDelta(t, p.nodes[0].y, p.nodes[2].y, 30, "a chain is about level")
	assert.NotEqual(t, p.edges[2][1].y, p.nodes[1].y, "an edge passes a node, not through it")
}
