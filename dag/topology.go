package dag

// Topology lists every node behind all that it waits for. Among what is equal in that, the
// smaller name comes first: it is the depth-first post-order with siblings by ascending name
// (spec: dag 9). Its cost is linear but for sorting the names, and is paid once per change of
// the graph.
func (g *Graph[T]) Topology() []string {
	p, _ := g.snapshot()
	if p.err != nil {
		return nil
	}
	p.topologyOnce.Do(func() { p.topology = p.postOrder() })
	names := make([]string, len(p.topology))
	for i, id := range p.topology {
		names[i] = p.names[id]
	}
	return names
}

// postOrder walks the nodes with a stack of its own: a chain may be longer than a goroutine's
// stack is deep.
func (p *plan) postOrder() []int32 {
	_, byName := p.order()
	children := p.childrenByName()
	next := append([]int32(nil), children.start[:len(p.names)]...)
	entered := make([]bool, len(p.names))
	result := make([]int32, 0, len(p.names))
	var path []int32
	for _, root := range byName {
		if entered[root] {
			continue
		}
		entered[root] = true
		path = append(path, root)
		for len(path) > 0 {
			id := path[len(path)-1]
			if next[id] == children.start[id+1] {
				result = append(result, id)
				path = path[:len(path)-1]
				continue
			}
			child := children.to[next[id]]
			next[id]++
			if !entered[child] {
				entered[child] = true
				path = append(path, child)
			}
		}
	}
	return result
}

// childrenByName is p.children with the children of each node by ascending name. Dealing the
// nodes out to their parents in that order sorts all lists at once.
func (p *plan) childrenByName() adjacency {
	_, byName := p.order()
	sorted := adjacency{start: p.children.start, to: make([]int32, len(p.children.to))}
	end := append([]int32(nil), p.children.start[:len(p.names)]...)
	for _, child := range byName {
		for _, parent := range p.parents.of(child) {
			sorted.to[end[parent]] = child
			end[parent]++
		}
	}
	return sorted
}
