package main

import (
	"math/rand/v2"
	"strconv"
)

// fixture describes a graph. Each edge is {dependent, dependency}, as indexes of names.
type fixture struct {
	names []string
	edges [][2]int
}

func named(n int) fixture {
	f := fixture{names: make([]string, n)}
	for i := range f.names {
		f.names[i] = "n" + strconv.Itoa(i)
	}
	return f
}

func chain(n int) fixture {
	f := named(n)
	for i := 1; i < n; i++ {
		f.edges = append(f.edges, [2]int{i, i - 1})
	}
	return f
}

// random returns a graph with that many different edges. Their directions follow a random order of the nodes, so nodes
// aren't added in a topological order.
func random(n, edges int) fixture {
	f := named(n)
	r := rand.New(rand.NewPCG(1, 2))
	rank := r.Perm(n)
	known := map[[2]int]bool{}
	for len(f.edges) < edges {
		e := [2]int{r.IntN(n), r.IntN(n)}
		if rank[e[0]] < rank[e[1]] {
			e[0], e[1] = e[1], e[0]
		}
		if e[0] != e[1] && !known[e] {
			known[e] = true
			f.edges = append(f.edges, e)
		}
	}
	return f
}
