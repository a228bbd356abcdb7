package main

import (
	"context"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// manyChildren is the number of children of the pairs of package desired.
const manyChildren = 100

// ofDesired reconciles by a function that wants a hundred children.
func ofDesired(ctx context.Context, manager *deploy.Manager) (watch.Reconciler, error) {
	sync := desired.Funcs[desired.Unstructured]{OnSync: func(desired.Request[desired.Unstructured]) (response desired.Response, err error) {
		for _, obj := range objects(0, manyChildren) {
			response.Children = append(response.Children, obj)
		}
		response.Status = map[string]any{"children": manyChildren}
		return response, nil
	}}
	var kinds []desired.Option
	declared := map[string]bool{}
	for _, obj := range objects(0, manyChildren) {
		if !declared[obj.GetKind()] {
			kinds = append(kinds, desired.Child(obj.GroupVersionKind(), desired.InPlace))
		}
		declared[obj.GetKind()] = true
	}
	return desired.New(kind, sync, kinds...).Reconciler(ctx, handlersEnv(manager))
}

// ofManySession reconciles by a session with one component of the same objects.
func ofManySession(_ context.Context, manager *deploy.Manager) (watch.Reconciler, error) {
	return reconcile.New(shop{1, manyChildren}, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
}

// desiredPairs are the goals of package desired.
func desiredPairs() []ratio.Pair {
	return []ratio.Pair{{
		Name: "desired-same", Goal: 1.3, Ours: settledPass(ofDesired), Peer: settledPass(ofManySession), Metric: "median-ns",
		Hint: "reconcile/desired/internal/engine: what is read and compared of children that are as wanted",
	}}
}

// desiredCounts are the goals of package desired without a peer.
func desiredCounts() []ratio.Count {
	return []ratio.Count{{
		Name: "desired-same-calls", Goal: 0, Hint: "reconcile/desired/internal/engine/carryout.go: what is written although nothing has changed",
		Measure: settledCalls(ofDesired),
	}}
}
