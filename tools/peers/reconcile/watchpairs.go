package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// watchPairs are the goals of the watch engine and its store, next to controller-runtime's.
func watchPairs() []ratio.Pair {
	return []ratio.Pair{
		{
			Name: "watch-latency", Goal: 1, Ours: latency(ourEngine), Peer: latency(peerEngine), Metric: "median-ns",
			Hint: "reconcile/internal/queue: how many goroutines a key passes through; reconcile/watch/worker.go: what is done before a reconcile",
		},
		{
			Name: "watch-throughput", Goal: 0.8, Ours: throughput(ourEngine), Peer: throughput(peerEngine),
			Hint: "reconcile/internal/queue and trigger, reconcile/filter: locks, and what is read and allocated for an event",
		},
		{
			Name: "watch-memory", Goal: 0.2, Metric: "heap-bytes/object",
			Ours: heap(configMapKind, configMaps, ourStore(configMapKind, cluster.MetadataOnly(configMapKind.GroupKind()))),
			Peer: heap(configMapKind, configMaps, peerCache(&corev1.ConfigMap{})),
			Hint: "deploy/cluster: what the store keeps of metadata; a heap profile after filling tells by type",
		},
		{
			Name: "watch-deployments", Goal: 1, Metric: "heap-bytes/object",
			Ours: heap(deploymentKind, deployments, ourStore(deploymentKind)),
			Peer: heap(deploymentKind, deployments, peerCache(&appsv1.Deployment{})),
			Hint: "deploy/cluster: what the store keeps of an object that nobody reads, managedFields of others first",
		},
	}
}
