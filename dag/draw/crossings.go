package draw

import (
	"cmp"
	"slices"
)

// sweeps is how often the order is improved, from left to right and back.
const sweeps = 12

// untangle orders the items of each layer so that few edges cross.
func untangle(layers [][]*item) {
	number(layers)
	best, fewest := remember(layers), crossings(layers)
	for range sweeps {
		if fewest == 0 {
			break
		}
		for at := 1; at < len(layers); at++ {
			reorder(layers[at], func(one *item) []*item { return one.left })
		}
		for at := len(layers) - 2; at >= 0; at-- {
			reorder(layers[at], func(one *item) []*item { return one.right })
		}
		if now := crossings(layers); now < fewest {
			best, fewest = remember(layers), now
		}
	}
	for at := range layers {
		copy(layers[at], best[at])
	}
	number(layers)
}

func number(layers [][]*item) {
	for _, layer := range layers {
		for at, one := range layer {
			one.at = at
		}
	}
}

func remember(layers [][]*item) [][]*item {
	kept := make([][]*item, len(layers))
	for at, layer := range layers {
		kept[at] = slices.Clone(layer)
	}
	return kept
}

// reorder sorts a layer by the average index of each item's neighbours. For an item without neighbours it uses the
// item's own index.
func reorder(layer []*item, neighbours func(*item) []*item) {
	middles := make(map[*item]float64, len(layer))
	for at, one := range layer {
		sum, all := 0.0, neighbours(one)
		for _, other := range all {
			sum += float64(other.at)
		}
		middles[one] = float64(at)
		if len(all) > 0 {
			middles[one] = sum / float64(len(all))
		}
	}
	slices.SortStableFunc(layer, func(a, b *item) int { return cmp.Compare(middles[a], middles[b]) })
	number([][]*item{layer})
}

// crossings returns the number of pairs of edges that cross.
func crossings(layers [][]*item) (sum int) {
	for at := 1; at < len(layers); at++ {
		// ends are the indexes in this layer at which the edges counted so far end, sorted.
		var ends []int
		for _, one := range layers[at-1] {
			for _, other := range one.right {
				behind, _ := slices.BinarySearch(ends, other.at+1)
				sum += len(ends) - behind
			}
			for _, other := range one.right {
				place, _ := slices.BinarySearch(ends, other.at)
				ends = slices.Insert(ends, place, other.at)
			}
		}
	}
	return sum
}
