package dag

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// plan is an immutable snapshot of a structure, laid out for runs. Any number of runs share it.
type plan struct {
	names    []string
	disabled []bool
	// children of a node are the nodes that it waits for, parents the nodes that wait for it, both in the order in
	// which the edges were added.
	children, parents adjacency
	// waiting is the number of children that each node waits for. A disabled node also counts itself, so that its
	// number never reaches zero.
	waiting []int32
	// gates holds the predicates of each node in the order of its children. It is nil if no node has a predicate.
	gates map[int32][]gate
	// err is the error of validate.
	err error

	ranksOnce sync.Once
	ranks     []int32
	byName    []int32

	rootsOnce sync.Once
	roots     []int32
}

// gate is the predicate of the edge to a child.
type gate struct {
	child int32
	open  Predicate
}

// adjacency holds the neighbours of node i in to[start[i]:start[i+1]].
type adjacency struct{ start, to []int32 }

func (a adjacency) of(id int32) []int32 { return a.to[a.start[id]:a.start[id+1]] }

// snapshot returns the plan and the data of the graph as it is now.
func (g *Graph[T]) snapshot() (*plan, []T) {
	if g == nil {
		return (&structure{}).compile(), nil
	}
	g.mu.RLock()
	p, data := g.plan, g.data
	g.mu.RUnlock()
	if p != nil {
		return p, data
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.plan == nil {
		if g.structure.gone() > 0 {
			g.compact()
		}
		g.plan = g.structure.compile()
	}
	return g.plan, g.data
}

func (s *structure) compile() *plan {
	n := len(s.names)
	p := &plan{names: s.names, err: s.validate()}
	if p.err != nil {
		return p
	}
	p.disabled = make([]bool, n)
	p.waiting = make([]int32, n)
	edges := len(s.edges) - len(s.freed)
	p.children = adjacency{start: make([]int32, n+1), to: make([]int32, 0, edges)}
	p.parents = adjacency{start: make([]int32, n+1), to: make([]int32, 0, edges)}
	for id := range s.nodes {
		p.compileNode(s, id)
	}
	return p
}

func (p *plan) compileNode(s *structure, id int) {
	for at := s.nodes[id].first[down]; at != none; at = s.edges[at].next[down] {
		child := s.edges[at].ends[1]
		if when, ok := s.when[at]; ok {
			if p.gates == nil {
				p.gates = make(map[int32][]gate, len(s.when))
			}
			p.gates[int32(id)] = append(p.gates[int32(id)], gate{child: child, open: when})
		}
		p.children.to = append(p.children.to, child)
	}
	for parent := range s.neighbours(int32(id), up) {
		p.parents.to = append(p.parents.to, parent)
	}
	p.children.start[id+1] = int32(len(p.children.to))
	p.parents.start[id+1] = int32(len(p.parents.to))
	p.waiting[id] = p.children.start[id+1] - p.children.start[id]
	if s.disabled[int32(id)] {
		p.disabled[id] = true
		p.waiting[id]++
	}
}

// reversed returns the plan for a run from dependents to dependencies, without predicates.
func (p *plan) reversed() *plan {
	r := &plan{names: p.names, disabled: p.disabled, children: p.parents, parents: p.children, waiting: make([]int32, len(p.names))}
	for id := range r.waiting {
		r.waiting[id] = int32(len(r.children.of(int32(id))))
		if r.disabled[id] {
			r.waiting[id]++
		}
	}
	return r
}

// order returns the rank of each node by name, and the nodes sorted by name. Both are computed on first use, because
// the run of a chain never needs them.
func (p *plan) order() (ranks, byName []int32) {
	p.ranksOnce.Do(func() {
		p.byName = make([]int32, len(p.names))
		for id := range p.byName {
			p.byName[id] = int32(id)
		}
		if !slices.IsSorted(p.names) {
			slices.SortFunc(p.byName, func(a, b int32) int { return strings.Compare(p.names[a], p.names[b]) })
		}
		p.ranks = make([]int32, len(p.names))
		for rank, id := range p.byName {
			p.ranks[id] = int32(rank)
		}
	})
	return p.ranks, p.byName
}

// sortByName sorts ids by name.
func (p *plan) sortByName(ids []int32) {
	if len(ids) < 2 {
		return
	}
	ranks, _ := p.order()
	slices.SortFunc(ids, func(a, b int32) int { return cmp.Compare(ranks[a], ranks[b]) })
}

// ready returns the nodes that wait for nothing, sorted by name.
func (p *plan) ready() []int32 {
	p.rootsOnce.Do(func() {
		for id, waiting := range p.waiting {
			if waiting == 0 {
				p.roots = append(p.roots, int32(id))
			}
		}
		p.sortByName(p.roots)
	})
	return p.roots
}

// find returns the node with a name, or none.
func (p *plan) find(name string) int32 {
	_, byName := p.order()
	rank, found := slices.BinarySearchFunc(byName, name, func(id int32, name string) int {
		return strings.Compare(p.names[id], name)
	})
	if !found {
		return none
	}
	return byName[rank]
}
