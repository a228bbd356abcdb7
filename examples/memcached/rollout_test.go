package main

import (
	"testing"

	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
)

const (
	// writesDeployment and writesStatus are what the operator is seen to write.
	writesDeployment = "patch deployments.apps"
	writesStatus     = "patch memcacheds.examples.operkit.dev/status"
)

func TestSampleIsRolledOut(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	cache, d := w.Get(v1.MemcachedKind, "hello"), w.deployment()

	assert.Equal(t, int32(3), *d.Spec.Replicas)
	assert.Equal(t, int32(3), d.Status.ReadyReplicas)
	want := map[string]string{"app.kubernetes.io/name": "memcached", "app.kubernetes.io/instance": "hello", "app.kubernetes.io/managed-by": "memcached-operator"}
	assert.Equal(t, want, d.Labels)
	assert.Equal(t, want, d.Spec.Selector.MatchLabels)
	assert.Equal(t, want, d.Spec.Template.Labels)
	require.Len(t, d.Spec.Template.Spec.Containers, 1)
	assert.Equal(t, image, d.Spec.Template.Spec.Containers[0].Image)
	assert.Equal(t, int32(11211), port(d))
	require.Len(t, d.OwnerReferences, 1)
	assert.Equal(t, cache.GetUID(), d.OwnerReferences[0].UID)

	ready, _ := status.Conditions(cache).Get(status.ConditionReady)
	assert.Equal(t, "True", string(ready.Status))
	assert.Equal(t, cache.GetGeneration(), ready.ObservedGeneration)
	assert.Empty(t, cache.GetFinalizers(), "the cluster collects the Deployment, so there is nothing to finalize")

	calls := w.Calls(t, w.operator)
	assert.Equal(t, map[string]int{writesDeployment: 1}, calls.Of("deployments.apps").Writes().Count())
	assert.Empty(t, calls.Of("deployments.apps", "memcacheds.examples.operkit.dev").Reads(), "what the watches tell isn't asked for")
	assert.Empty(t, calls.Failed(), "nothing was refused")
}

func TestChangeIsOneWrite(t *testing.T) {
	t.Parallel()
	w, _ := settledWorld(t)
	seen := w.recordStatuses()
	for _, row := range []struct {
		reason, change string
		writes         int
		done           func(d *appsv1.Deployment) bool
	}{
		{"more", `{"spec":{"size":5}}`, 1, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 5 }},
		{"fewer", `{"spec":{"size":1}}`, 1, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 }},
		{"no size is the default, which it was", `{"spec":{"size":null}}`, 0, func(d *appsv1.Deployment) bool { return *d.Spec.Replicas == 1 }},
		{"another port", `{"spec":{"containerPort":11222}}`, 1, func(d *appsv1.Deployment) bool { return port(d) == 11222 }},
	} {
		mark, before := w.Mark(t), seen.count()
		w.Merge(v1.MemcachedKind, "hello", row.change)
		w.Eventually(row.reason, func() bool { return row.done(w.deployment()) })
		w.settled()
		wrote := w.written(mark)
		assert.Equal(t, row.writes, wrote[writesDeployment], row.reason)
		w.Eventually("every status is seen", func() bool { return seen.count()-before >= wrote[writesStatus] })
		assert.Equal(t, seen.count()-before, wrote[writesStatus], "%s: one write for each status that is unlike the one before", row.reason)
		delete(wrote, writesDeployment)
		delete(wrote, writesStatus)
		assert.Empty(t, wrote, "%s: nothing else is written", row.reason)
	}
}

func port(d *appsv1.Deployment) int32 {
	return d.Spec.Template.Spec.Containers[0].Ports[0].ContainerPort
}
