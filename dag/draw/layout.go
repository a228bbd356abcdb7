package draw

// graph is the input of layout.
type graph struct {
	// depths has the layer of each node. An edge leads to a node with a lower depth. The layer with the greatest depth
	// is leftmost.
	depths []int
	// edges has the first and the second node of each edge.
	edges [][2]int
	// widths has the width of each node. All nodes have the same height.
	widths []float64
	height float64
}

// point is a place in a picture. x grows to the right, and y grows downwards.
type point struct{ x, y float64 }

// picture holds the positions of nodes and edges.
type picture struct {
	width, height float64
	// nodes has the middle of the left side of each node.
	nodes []point
	// edges has the points of each edge, from the right side of its first node to the left side of its second node.
	// From point 0 to 1, from 2 to 3, and so on, the edge crosses to the next layer. From 1 to 2, from 3 to 4, and so
	// on, it is level.
	edges [][]point
}

// Distances between layers, between nodes of a layer, and at the border of the picture.
const (
	apart  = 60
	below  = 18
	margin = 12
)

// item is a node, or the point at which an edge passes through a layer.
type item struct {
	// node is the number of the node, -1 for a point.
	node   int
	height float64
	y      float64
	// left and right are the neighbours in the layers to the left and to the right.
	left, right []*item
	// at is the index of the item in its layer.
	at int
}

// layout returns where nodes and edges are drawn: in layers, with few crossings, and each node near its neighbours.
func layout(g graph) picture {
	layers, chains := g.split()
	untangle(layers)
	align(layers)
	return g.arrange(layers, chains)
}

// split returns layers of items, leftmost first, and for each edge the chain of items that it goes through.
func (g graph) split() (layers [][]*item, chains [][]*item) {
	deepest := int(-1)
	for _, depth := range g.depths {
		deepest = max(deepest, depth)
	}
	layers = make([][]*item, deepest+1)
	nodes := make([]*item, len(g.depths))
	add := func(depth int, one *item) *item {
		at := deepest - depth
		layers[at] = append(layers[at], one)
		return one
	}
	for id, depth := range g.depths {
		nodes[id] = add(depth, &item{node: int(id), height: g.height})
	}
	chains = make([][]*item, len(g.edges))
	for i, edge := range g.edges {
		chain := []*item{nodes[edge[0]]}
		for depth := g.depths[edge[0]] - 1; depth > g.depths[edge[1]]; depth-- {
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

// arrange returns the picture of items that have their positions.
func (g graph) arrange(layers, chains [][]*item) picture {
	p := picture{nodes: make([]point, len(g.depths)), edges: make([][]point, len(chains))}
	top := 0.0
	for _, layer := range layers {
		for _, one := range layer {
			top = min(top, one.y-one.height/2)
		}
	}
	x := float64(margin)
	// sides holds the x of the left and the right side of each node. Where an edge passes through a layer, the sides
	// are those of the layer.
	sides := make(map[*item][2]float64, len(g.depths))
	for _, layer := range layers {
		width := 0.0
		for _, one := range layer {
			if one.node >= 0 {
				width = max(width, g.widths[one.node])
			}
		}
		for _, one := range layer {
			one.y += margin - top
			p.height = max(p.height, one.y+one.height/2+margin)
			sides[one] = [2]float64{x, x + width}
			if one.node >= 0 {
				p.nodes[one.node] = point{x, one.y}
				sides[one] = [2]float64{x, x + g.widths[one.node]}
			}
		}
		x += width + apart
	}
	p.width = max(x-apart, margin) + margin
	for i, chain := range chains {
		for j, one := range chain {
			if j > 0 {
				p.edges[i] = append(p.edges[i], point{sides[one][0], one.y})
			}
			if j < len(chain)-1 {
				p.edges[i] = append(p.edges[i], point{sides[one][1], one.y})
			}
		}
	}
	return p
}

// passes is how often the positions are improved.
const passes = 8

// align gives each item a vertical position near its neighbours, in the order of its layer and with room between items.
func align(layers [][]*item) {
	for _, layer := range layers {
		place(layer, make([]float64, len(layer)))
	}
	for pass := range passes {
		for i := range layers {
			at := i
			if pass%2 == 1 {
				at = len(layers) - 1 - i
			}
			place(layers[at], wishes(layers[at]))
		}
	}
}

// wishes returns the best position of each item: the average of its neighbours' positions.
func wishes(layer []*item) []float64 {
	all := make([]float64, len(layer))
	for i, one := range layer {
		count := len(one.left) + len(one.right)
		if count == 0 {
			all[i] = one.y
			continue
		}
		for _, side := range [][]*item{one.left, one.right} {
			for _, other := range side {
				all[i] += other.y / float64(count)
			}
		}
	}
	return all
}

// pool is a group of adjacent items that are as close together as allowed. sum adds up the wish of each item minus its
// offset. The offset of an item is its distance from the first item when the layer is packed as closely as allowed.
type pool struct {
	sum   float64
	count int
}

func (p pool) mean() float64 { return p.sum / float64(p.count) }

// place moves items near to their wishes. It keeps their order and at least the minimum distance between them, and
// makes the sum of the squared distances from the wishes as small as possible.
func place(layer []*item, wishes []float64) {
	offsets := make([]float64, len(layer))
	for i := 1; i < len(layer); i++ {
		offsets[i] = offsets[i-1] + layer[i-1].height/2 + below + layer[i].height/2
	}
	var pools []pool
	for i := range layer {
		pools = append(pools, pool{wishes[i] - offsets[i], 1})
		for n := len(pools); n > 1 && pools[n-2].mean() > pools[n-1].mean(); n-- {
			pools = append(pools[:n-2], pool{pools[n-2].sum + pools[n-1].sum, pools[n-2].count + pools[n-1].count})
		}
	}
	i := 0
	for _, p := range pools {
		for range p.count {
			layer[i].y = p.mean() + offsets[i]
			i++
		}
	}
}
