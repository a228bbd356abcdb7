package main

import (
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// TestMove goes through a whole move: two engines under one Lease, and then operkit alone, which waits for that same Lease.
func TestMove(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.start("both", w.Namespace)
	w.create(memcacheds, "cache", `{"size": 2}`)
	w.create(hellos, "world", `{"to": "everybody"}`)
	w.Eventually("both work", func() bool { return w.size("cache") == 2 && w.Get(configMaps, "world") != nil })
	t.Run("metrics are on two pages, with the same names", func(t *testing.T) {
		w.Eventually("theirs", func() bool {
			return strings.Contains(w.page(first.theirs), `controller_runtime_reconcile_total{controller="memcached",`)
		})
		w.Eventually("ours", func() bool {
			return strings.Contains(w.page(first.ours), `controller_runtime_reconcile_total{controller="Hello",`)
		})
	})
	t.Run("one of two replicas works, with both", func(t *testing.T) {
		second := w.start("both", w.Namespace)
		w.Eventually("it waits for the Lease", func() bool { return strings.Contains(second.Output(), "Attempting to acquire leader lease") })
		time.Sleep(2 * time.Second)
		assert.NotContains(t, second.Output(), "operator=memcached-operator", "operkit isn't started")
		require.Zero(t, first.Stop(t))
		w.create(memcacheds, "another", `{"size": 1}`)
		w.create(hellos, "moon", `{"to": "nobody"}`)
		w.Eventually("the other one works", func() bool { return w.size("another") == 1 && w.Get(configMaps, "moon") != nil })
		first = second
	})

	before := w.Get(deployments, "cache")
	last := w.start("moved", "run", "--namespace", w.Namespace,
		"--leader-election.lock", "lease", "--leader-election.name", "memcached-operator", "--leader-election.namespace", w.Namespace)
	w.Eventually("it waits for the manager's Lease", func() bool { return strings.Contains(last.Output(), "another replica leads") })
	w.Merge(hellos, "world", `{"spec": {"to": "all"}}`)
	w.Eventually("who leads works on", func() bool {
		to, _, err := unstructured.NestedString(w.Get(configMaps, "world").Object, "data", "hello")
		return err == nil && to == "all"
	})
	require.Zero(t, first.Stop(t))
	w.Eventually("it leads", func() bool { return strings.Contains(last.Output(), "this replica leads") })
	w.Eventually("Memcacheds are Ready", func() bool {
		for _, name := range []string{"cache", "another"} {
			if ready, _ := status.Conditions(w.Get(memcacheds, name)).Get(status.ConditionReady); ready.Status != "True" {
				return false
			}
		}
		return true
	})
	after := w.Get(deployments, "cache")
	t.Run("the Deployment is the same, and no Pod is restarted", func(t *testing.T) {
		assert.Equal(t, before.GetUID(), after.GetUID())
		assert.Equal(t, before.Object["spec"], after.Object["spec"], "as it was")
		require.Len(t, after.GetOwnerReferences(), 1)
		assert.Equal(t, w.Get(memcacheds, "cache").GetUID(), after.GetOwnerReferences()[0].UID)
		assert.Nil(t, after.GetOwnerReferences()[0].Controller, "an owner, as any, not its controller")
	})
	t.Run("what the Reconciler had set, and isn't rendered, is gone", func(t *testing.T) {
		assert.Equal(t, "a Reconciler", before.GetAnnotations()["examples.operkit.dev/made-by"])
		assert.NotContains(t, after.GetAnnotations(), "examples.operkit.dev/made-by")
		for _, entry := range after.GetManagedFields() {
			assert.NotEqual(t, fieldManager, entry.Manager)
		}
	})
	t.Run("and it is operkit's from now on", func(t *testing.T) {
		w.Merge(memcacheds, "cache", `{"spec": {"size": 3}}`)
		w.Eventually("a change is made", func() bool { return w.size("cache") == 3 })
		require.Zero(t, last.Stop(t))
		lease := w.Get(leases, "memcached-operator")
		holder, _, err := unstructured.NestedString(lease.Object, "spec", "holderIdentity")
		require.NoError(t, err)
		assert.Empty(t, holder, "the Lease is given back")
	})
	t.Run("and back", func(t *testing.T) {
		w.start("both", w.Namespace)
		w.Eventually("the Reconciler makes it its own again", func() bool {
			deployment := w.Get(deployments, "cache")
			return deployment.GetAnnotations()["examples.operkit.dev/made-by"] != "" && deployment.GetUID() == before.GetUID() &&
				len(deployment.GetOwnerReferences()) == 1 && deployment.GetOwnerReferences()[0].Controller != nil
		})
		w.Merge(memcacheds, "cache", `{"spec": {"size": 1}}`)
		w.Eventually("a change is made", func() bool { return w.size("cache") == 1 })
	})
}

// TestReconcilerBehindTheEngine has the Reconciler do what the manager had it do.
func TestReconcilerBehindTheEngine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.start("behind", w.Namespace)
	w.create(memcacheds, "cache", `{"size": 2}`)
	w.Eventually("it is called for a resource", func() bool { return w.size("cache") == 2 })
	w.Merge(memcacheds, "cache", `{"spec": {"size": 4}}`)
	w.Eventually("for a change of it", func() bool { return w.size("cache") == 4 })
	w.Merge(deployments, "cache", `{"spec": {"replicas": 1}}`)
	w.Eventually("and for a change of what it owns", func() bool { return w.size("cache") == 4 })
	require.Zero(t, p.Stop(t))
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"both"}, {"neither", "shop"}, {"moved"}} {
		assert.ErrorContains(t, run(t.Context(), args), "use both NAMESPACE, behind NAMESPACE or moved COMMAND", args)
	}
}
