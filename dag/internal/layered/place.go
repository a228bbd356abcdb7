package layered

// Graph is what is to be placed.
type Graph struct {
	// Depths has the layer of each node: an edge leads from a node to one of a lower depth. The deepest layer is leftmost.
	Depths []int32
	// Edges are pairs of nodes.
	Edges [][2]int32
	// Widths of the nodes, and the Height of each.
	Widths []float64
	Height float64
}

// Point is a place in the picture: to the right, and down.
type Point struct{ X, Y float64 }

// Picture is where everything is.
type Picture struct {
	Width, Height float64
	// Nodes are the middles of their left sides.
	Nodes []Point
	// Edges are the points that each goes through, from the right side of its first node to the left side of its second. Between the
	// first and the second, the third and the fourth, and so on, it goes across; between the others it is level.
	Edges [][]Point
}

// Distances between nodes beside and below each other, and of an edge that passes between two nodes.
const (
	apart  = 60
	below  = 18
	margin = 12
)

// item is a node, or a point of an edge that passes a layer.
type item struct {
	// node is -1 for a point.
	node   int32
	height float64
	y      float64
	// left and right are the neighbours in the layers there.
	left, right []*item
	// at is its position in its layer.
	at int
}

// Place places a graph.
func Place(g Graph) Picture {
	layers, chains := g.split()
	untangle(layers)
	settle(layers)
	return g.picture(layers, chains)
}

// split makes layers of items, leftmost first, and for each edge the chain of items that it goes through.
func (g Graph) split() (layers [][]*item, chains [][]*item) {
	deepest := int32(-1)
	for _, depth := range g.Depths {
		deepest = max(deepest, depth)
	}
	layers = make([][]*item, deepest+1)
	nodes := make([]*item, len(g.Depths))
	add := func(depth int32, one *item) *item {
		at := deepest - depth
		layers[at] = append(layers[at], one)
		return one
	}
	for id, depth := range g.Depths {
		nodes[id] = add(depth, &item{node: int32(id), height: g.Height})
	}
	chains = make([][]*item, len(g.Edges))
	for i, edge := range g.Edges {
		chain := []*item{nodes[edge[0]]}
		for depth := g.Depths[edge[0]] - 1; depth > g.Depths[edge[1]]; depth-- {
			chain = append(chain, add(depth, &item{node: -1}))
		}
		chain = append(chain, nodes[edge[1]])
		for j := 1; j < len(chain); j++ {
			chain[j-1].right, chain[j].left = append(chain[j-1].right, chain[j]), append(chain[j].left, chain[j-1])
		}
		chains[i] = chain
	}
	return layers, chains
}

// picture says where the items are in a picture.
func (g Graph) picture(layers [][]*item, chains [][]*item) Picture {
	p := Picture{Nodes: make([]Point, len(g.Depths)), Edges: make([][]Point, len(chains))}
	top := 0.0
	for _, layer := range layers {
		for _, one := range layer {
			top = min(top, one.y-one.height/2)
		}
	}
	x := float64(margin)
	// sides are where each layer begins and ends.
	sides := make(map[*item][2]float64, len(g.Depths))
	for _, layer := range layers {
		width := 0.0
		for _, one := range layer {
			if one.node >= 0 {
				width = max(width, g.Widths[one.node])
			}
		}
		for _, one := range layer {
			one.y += margin - top
			p.Height = max(p.Height, one.y+one.height/2+margin)
			sides[one] = [2]float64{x, x + width}
			if one.node >= 0 {
				p.Nodes[one.node] = Point{x, one.y}
				sides[one] = [2]float64{x, x + g.Widths[one.node]}
			}
		}
		x += width + apart
	}
	p.Width = max(x-apart, margin) + margin
	for i, chain := range chains {
		for j, one := range chain {
			if j > 0 {
				p.Edges[i] = append(p.Edges[i], Point{sides[one][0], one.y})
			}
			if j < len(chain)-1 {
				p.Edges[i] = append(p.Edges[i], Point{sides[one][1], one.y})
			}
		}
	}
	return p
}
