package layered

// passes is how often heights are improved.
const passes = 8

// settle gives each item a height near those of its neighbours, in the order of its layer and with room between them.
func settle(layers [][]*item) {
	for _, layer := range layers {
		wishes := make([]float64, len(layer))
		place(layer, wishes)
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

// wishes are where items would like to be: in the middle of their neighbours.
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

// pool is a row of items that stand as close as they may, with what they would like on average.
type pool struct {
	sum   float64
	count int
}

func (p pool) mean() float64 { return p.sum / float64(p.count) }

// place brings items as near to where they would like to be as their order and the room between them allow: the sum of the squares
// of what is missing is the least there is.
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
