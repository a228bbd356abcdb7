package dag

// Layers sorts the nodes by how long the way down from them is: the first layer waits for
// nothing, each further one for something in the layer before it and for nothing above that.
// The nodes of a layer are by ascending name and could all be visited at once.
//
// [Run] doesn't go by layers: it starts a node when what that one waits for is verified,
// whatever else is in the layers below.
func (g *Graph[T]) Layers() [][]string {
	p, _ := g.snapshot()
	if p.err != nil {
		return nil
	}
	depths, count := p.depths()
	sizes := make([]int, count)
	for _, depth := range depths {
		sizes[depth]++
	}
	var layers [][]string
	for _, size := range sizes {
		layers = append(layers, make([]string, 0, size))
	}
	_, byName := p.order()
	for _, id := range byName {
		layers[depths[id]] = append(layers[depths[id]], p.names[id])
	}
	return layers
}

// depths is, per node, the length of the longest way down from it, and how many layers that
// makes.
func (p *plan) depths() (depths []int32, layers int32) {
	depths = make([]int32, len(p.names))
	waiting := make([]int32, len(p.names))
	ready := make([]int32, 0, len(p.names))
	for id := range p.names {
		waiting[id] = int32(len(p.children.of(int32(id))))
		if waiting[id] == 0 {
			ready = append(ready, int32(id))
		}
	}
	for at := 0; at < len(ready); at++ {
		id := ready[at]
		layers = max(layers, depths[id]+1)
		for _, parent := range p.parents.of(id) {
			depths[parent] = max(depths[parent], depths[id]+1)
			if waiting[parent]--; waiting[parent] == 0 {
				ready = append(ready, parent)
			}
		}
	}
	return depths, layers
}
