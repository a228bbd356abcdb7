package reconciletest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// onForeign runs a test on a cluster that the harness doesn't know to be in memory, in a time that passes at once.
// Its Deployments become ready two seconds after they came.
func onForeign(t *testing.T, reason string, controller reconcile.Controller, test func(t *testing.T, h *Harness, foreign *dryrun.Cluster)) {
	t.Helper()
	t.Run(reason, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			foreign, err := dryrun.New(dryrun.AnyKind())
			require.NoError(t, err)
			t.Cleanup(foreign.Wait)
			kubelet := New(t, controller)
			kind := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
			_, err = foreign.View().Subscribe(t.Context(), kind, func(event deploy.Event) {
				if event.Type != deploy.Added {
					return
				}
				time.Sleep(2 * time.Second)
				ready := deployment(kubelet.simulator, event.New)
				h := &Harness{cluster: foreign}
				assert.NoError(t, h.patch(context.WithoutCancel(t.Context()), deploy.RefOf(event.New), "status", ready, "kubelet"))
			})
			require.NoError(t, err)
			test(t, New(t, controller, On(foreign, 0), Namespace("shop")), foreign)
		})
	})
}

func TestOnARealCluster(t *testing.T) {
	t.Parallel()
	onForeign(t, "the same test runs there", market(), func(t *testing.T, h *Harness, _ *dryrun.Cluster) {
		assert.True(t, h.Real())
		h.Apply(tea)
		began := time.Now()
		h.RunUntilSettled()
		assert.Equal(t, 5*time.Second, time.Since(began), "two to become ready, three of quiet")
		h.Created("Deployment tea-store", "ConfigMap tea-door")
		h.Ready("Shop tea")
		h.Writes(4)
		h.Delete("ConfigMap shop/tea-door")
		h.RunUntilSettled()
		h.Created("ConfigMap tea-door")
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
	onForeign(t, "retries of failures are waited for", market(), func(t *testing.T, h *Harness, _ *dryrun.Cluster) {
		h.Apply(tea)
		h.Fail("store", Deploy, errors.New("boom")).Times(6)
		h.RunUntilSettled()
		h.Ready("Shop tea")
		h.Golden("Shop tea", "market")
	})
	onForeign(t, "what happens meanwhile is seen", market(), func(t *testing.T, h *Harness, _ *dryrun.Cluster) {
		h.Apply(tea)
		h.RunUntilSettled()
		time.AfterFunc(2*time.Second, func() {
			h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"sign": "closed"} })
		})
		h.RunUntilSettled()
		h.Configured("ConfigMap tea-door")
	})
	onForeign(t, "resources of others are left alone", market(), func(t *testing.T, h *Harness, foreign *dryrun.Cluster) {
		other := &Harness{t: t, cluster: foreign, options: options{namespace: "others"}, applied: map[deploy.Ref]bool{}}
		other.events = newEvents(other)
		objects, err := toObjects(tea)
		require.NoError(t, err)
		require.NoError(t, other.apply(t.Context(), objects[0]))
		h.RunUntilSettled()
		assert.Empty(t, h.Runs())
	})
	onForeign(t, "what only memory has fails the test", market(), func(t *testing.T, h *Harness, _ *dryrun.Cluster) {
		for _, method := range []func(){
			func() { h.Advance(time.Second) }, func() { h.Hold("Deployment a") }, func() { h.Break("Deployment a", "") },
			func() { h.Release() }, func() { h.Memory() },
		} {
			said := try(t, func(trial *trial) {
				h.t = trial
				method()
			})
			assert.Contains(t, said, "only a cluster in memory has this method: check Real before")
		}
		h.t = t
		assert.Contains(t, try(t, func(t *trial) { New(t, market(), On(h.Cluster(), 0), Definitions("testdata/crds")) }), "need a cluster in memory: leave them out")
	})
	onForeign(t, "a test that ends is settled", market(), func(t *testing.T, h *Harness, _ *dryrun.Cluster) {
		ctx, cancel := context.WithCancelCause(t.Context())
		h.Apply(tea)
		time.AfterFunc(4*time.Second, func() { cancel(errors.New("out of time")) })
		said := try(t, func(trial *trial) {
			trial.ctx = ctx
			h.t = trial
			h.RunUntilSettled()
		})
		h.t = t
		assert.Contains(t, said, "not settled: out of time")
	})
}
