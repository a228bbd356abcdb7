package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/tools/peers/ratio"
)

// TestPeers checks that the peers do the work that they are measured at.
func TestPeers(t *testing.T) {
	f := random(300, 1500)
	place := map[string]int{}
	h := newByHand()
	started := make(chan int, len(f.names))
	for i, name := range f.names {
		place[name] = i
		h.add(name, func() error { started <- i; return nil })
	}
	for _, e := range f.edges {
		h.depend(f.names[e[0]], f.names[e[1]])
	}
	require.NoError(t, h.runAll())
	close(started)
	order := map[int]int{}
	for i := range started {
		order[i] = len(order)
	}
	require.Len(t, order, len(f.names))
	for _, e := range f.edges {
		assert.Greater(t, order[e[0]], order[e[1]])
	}
	require.NoError(t, buildHeimdalr(f))
	require.NoError(t, fan(100, 8))
	f.edges = append(f.edges, [2]int{f.edges[0][1], f.edges[0][0]})
	require.Error(t, buildHeimdalr(f), "the peer refuses cycles as well")
}

func BenchmarkPairs(b *testing.B) { ratio.Bench(b, pairs()) }
