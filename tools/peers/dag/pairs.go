package main

import (
	"context"
	"testing"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/tools/peers/ratio"
)

const concurrency = 8

// pairs returns the goals. Fixtures are created once; the loop of a row only does the measured work.
func pairs() []ratio.Pair {
	wide, tangled := named(10_000), random(10_000, 50_000)
	long, short := chain(100_000), chain(10_000)
	// The library stores all nodes that can be reached from each one, which takes gigabytes for 10 000 nodes.
	possible := random(1000, 5000)
	return []ratio.Pair{
		{
			Name: "dag-fan", Goal: 1,
			Ours: running(wide),
			Peer: func(b *testing.B) {
				for b.Loop() {
					must(b, fan(len(wide.names), concurrency))
				}
			},
			Hint: "the lock of the scheduler (scheduler.go, take and pop), and how often workers are woken",
		},
		{
			Name: "dag-random", Goal: 1.5,
			Ours: running(tangled),
			Peer: func(b *testing.B) {
				h := buildByHand(tangled)
				for b.Loop() {
					must(b, h.runAll())
				}
			},
			Hint: "finishVisit and advance (scheduler.go): what is done under the lock per edge, and the sorting by name",
		},
		{
			Name: "dag-chain", Goal: 2,
			Ours: buildingAndRunning(long),
			Peer: func(b *testing.B) {
				for b.Loop() {
					must(b, buildByHand(long).runAll())
				}
			},
			Hint: "bytes per node and edge (structure.go, index.go), then compile (plan.go)",
		},
		{
			Name: "dag-linear", Goal: 13,
			Ours: buildingAndRunning(long),
			Peer: buildingAndRunning(short),
			Hint: "bytes per node and edge, how slices grow (push in structure.go, index.go), and whether the order is relabelled often (order.go)",
		},
		{
			Name: "dag-build", Goal: 0.1,
			Ours: func(b *testing.B) {
				for b.Loop() {
					build(b, possible)
				}
			},
			Peer: func(b *testing.B) {
				for b.Loop() {
					must(b, buildHeimdalr(possible))
				}
			},
			Hint: "admit (cycle.go): how far the two walks go, and findEdge (structure.go)",
		},
	}
}

func nothing(context.Context, string, int) error { return nil }

func build(b *testing.B, f fixture) *dag.Graph[int] {
	g := dag.New[int]()
	for i, name := range f.names {
		must(b, g.Add(name, i))
	}
	for _, e := range f.edges {
		must(b, g.Depend(f.names[e[0]], f.names[e[1]]))
	}
	return g
}

func run(b *testing.B, g *dag.Graph[int]) {
	state, err := dag.Run(b.Context(), g, nothing, dag.Concurrency(concurrency))
	must(b, err)
	if !state.VerifyCompleted() {
		b.Fatal(state)
	}
}

func running(f fixture) func(b *testing.B) {
	return func(b *testing.B) {
		g := build(b, f)
		for b.Loop() {
			run(b, g)
		}
	}
}

func buildingAndRunning(f fixture) func(b *testing.B) {
	return func(b *testing.B) {
		for b.Loop() {
			run(b, build(b, f))
		}
	}
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}
