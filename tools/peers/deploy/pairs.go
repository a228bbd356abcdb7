package main

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/tools/peers/ratio"
)

func pairs() []ratio.Pair {
	return []ratio.Pair{
		{
			Name: "deploy-dryrun", Goal: 5, Ours: inMemory(1_000), Peer: mergeAlone(1_000),
			Hint: "deploy/dryrun: copies of objects, and managedFields that are written and read for each write",
		},
		{
			Name: "deploy-dryrun-linear", Goal: 13, Ours: inMemory(10_000), Peer: inMemory(1_000),
			Hint: "deploy/dryrun/storage.go: something looks at all objects for each write",
		},
	}
}

// inMemory applies n new objects to a cluster in memory.
func inMemory(n int) func(b *testing.B) {
	return func(b *testing.B) {
		objects := mixed(n)
		for b.Loop() {
			memory, err := dryrun.New(dryrun.Namespaces(namespace))
			if err != nil {
				b.Fatal(err)
			}
			manager, err := deploy.NewManager(memory)
			if err != nil {
				b.Fatal(err)
			}
			results, err := manager.Apply(b.Context(), objects)
			if err != nil || len(results) != n {
				b.Fatalf("%d of %d applied: %v", len(results), n, err)
			}
		}
	}
}
