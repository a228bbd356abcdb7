package main

import (
	"context"
	"runtime"
	"testing"

	"github.com/operkit/operkit/tools/peers/ratio"
)

// livePairs are the goals on a real API server. Both sides of a pair do the same in turn, each in namespaces of its
// own.
func (l lab) livePairs() []ratio.Pair {
	const hint = "deploy/apply.go and deploy/cluster: what is done for an object beside its request; COUNT deploy-new-calls tells how many there are"
	return []ratio.Pair{
		{
			Name: "deploy-same-cpu", Goal: 0.5, Ours: oneProcessor(l.again(newOperkit)), Peer: oneProcessor(l.again(newCreateOrUpdate)),
			Hint: "deploy/unchanged.go: manifests that are looked at closely although nothing changed",
		},
		{
			Name: "deploy-same-flux", Goal: 0.05, Ours: l.again(newOperkit), Peer: l.again(newFlux),
			Hint: "deploy/unchanged.go; COUNT deploy-same-calls tells whether the server was asked",
		},
		{Name: "deploy-new-flux", Goal: 0.5, Ours: l.fresh(newOperkit), Peer: l.fresh(newFlux), Hint: hint},
		{Name: "deploy-new-apply", Goal: 1, Ours: l.fresh(newOperkit), Peer: l.fresh(newRuntimeApply), Hint: hint, Rounds: 31},
	}
}

// liveCounts returns the counts of ours' requests.
func (l lab) liveCounts() []ratio.Count {
	const hint = "deploy/apply.go: Result.Calls tells which object was asked about"
	count := func(measure func(ctx context.Context) (sent, error)) func() (float64, error) {
		return func() (float64, error) {
			got, err := measure(context.Background())
			return float64(got.writes + got.reads), err
		}
	}
	return []ratio.Count{
		{Name: "deploy-same-calls", Goal: 0, Measure: count(l.sameCalls), Hint: hint},
		{Name: "deploy-new-calls", Goal: 100, Measure: count(l.newCalls), Hint: hint},
		{Name: "deploy-change-calls", Goal: 100, Measure: count(l.changeCalls), Hint: hint},
		{Name: "deploy-restart-calls", Goal: 0, Hint: hint, Measure: count(func(ctx context.Context) (sent, error) {
			return l.restartCalls(ctx, thousand)
		})},
	}
}

// oneProcessor runs the work on one processor, so that the measured time is processor time. It includes the garbage
// collector's work, which so counts for the side that causes it.
func oneProcessor(run func(b *testing.B)) func(b *testing.B) {
	return func(b *testing.B) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		run(b)
	}
}
