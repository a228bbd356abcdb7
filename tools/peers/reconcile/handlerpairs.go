package main

import (
	"github.com/operkit/operkit/tools/peers/ratio"
	appsv1 "k8s.io/api/apps/v1"
)

// handlerPairs are the goals of package handlers.
func handlerPairs() []ratio.Pair {
	return []ratio.Pair{
		{
			Name: "handlers-same", Goal: 1.3, Ours: settledPass(ofHandlers), Peer: settledPass(ofSession), Metric: "median-ns",
			Hint: "reconcile/handlers/pass.go: what is read and computed of an object for which nothing has happened",
		},
		{
			Name: "handlers-memory", Goal: 1.5, Metric: "heap-bytes/object",
			Ours: heap(deploymentKind, handledDeployments, handledStore),
			Peer: heap(deploymentKind, deployments, peerCache(&appsv1.Deployment{})),
			Hint: "reconcile/handlers/objects.go: what is remembered of each object; internal/record: how large the annotation is",
		},
		{
			Name: "handlers-diff", Goal: 0.1, Ours: diffOurs, Peer: diffPeer,
			Hint: "reconcile/handlers/internal/diff: what is allocated or sorted for fields that don't differ",
		},
	}
}

// handlerCounts are the goals of package handlers without a peer.
func handlerCounts() []ratio.Count {
	return []ratio.Count{{
		Name: "handlers-same-calls", Goal: 0, Hint: "reconcile/handlers/write.go: what is written although nothing has happened",
		Measure: settledCalls(ofHandlers),
	}}
}
