package tls_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/podhash"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// restarted is a program that reads its Secret when its Deployment starts new Pods, and at no other time.
type restarted struct {
	deployment, secret deploy.Ref
	into               *atomic.Pointer[program]
	// starts counts how often it was started.
	starts atomic.Int64
}

// follow starts the program whenever the Deployment is rolled out.
func (r *restarted) follow(ctx context.Context, t *testing.T, c deploy.Cluster) {
	var running string
	for ctx.Err() == nil {
		found, err := c.Port().Get(ctx, r.deployment)
		if ctx.Err() != nil || !assert.NoError(t, err) || !assert.NotNil(t, found) {
			return
		}
		hash, _, _ := unstructured.NestedString(found.Object, "spec", "template", "metadata", "annotations", "operkit.dev/"+podhash.Annotation)
		observed, _, _ := unstructured.NestedInt64(found.Object, "status", "observedGeneration")
		if observed == found.GetGeneration() && hash != running {
			secret, err := c.Port().Get(ctx, r.secret)
			if ctx.Err() != nil || !assert.NoError(t, err) {
				return
			}
			r.into.Store(load(t, secret))
			running = hash
			r.starts.Add(1)
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

// TestOneRestartOnTheAPIServer replaces the CA of Deployments whose programs read their certificates at their start.
func TestOneRestartOnTheAPIServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shops.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shopDefinition), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	h := reconciletest.New(t, workshop(tls.Wait(waits)), reconciletest.On(c, waits+time.Second), reconciletest.Namespace(env.Namespace),
		reconciletest.With(reconcile.Period(24*time.Hour), podhash.Components()))
	h.Apply(newTea(map[string]any{"colour": "red"}))
	h.RunUntilSettled()
	h.Ready("Shop tea")
	ref := func(group, kind, name string) deploy.Ref {
		return deploy.Ref{Kind: schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind}, Namespace: env.Namespace, Name: name}
	}
	replicaSets := func() int {
		found, err := c.View().List(ctx, schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "ReplicaSet"}, env.Namespace, nil)
		require.NoError(t, err)
		return len(found)
	}
	require.Equal(t, 3, replicaSets())

	tr := &traffic{}
	server := &restarted{deployment: ref("apps", "Deployment", "web"), secret: ref("", "Secret", "tea-web-tls"), into: &tr.server}
	client := &restarted{deployment: ref("apps", "Deployment", "worker"), secret: ref("", "Secret", "tea-worker-tls"), into: &tr.client}
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	group.Go(func() { server.follow(loading, t, c) })
	group.Go(func() { client.follow(loading, t, c) })
	group.Go(func() { tr.connect(loading) })
	require.Eventually(t, func() bool { return tr.done.Load() > 0 }, time.Minute, 10*time.Millisecond)

	t.Run("tls 36: on the API server a replacement of the CA rolls each Deployment once, and no handshake fails", func(t *testing.T) {
		for roll := range 2 {
			before := certOf(t, h.Get(secretCA))
			annotate(h, secretCA, "operkit.dev/renew", time.Now().Format(time.RFC3339Nano))
			h.RunUntilSettled()
			require.Equal(t, "Steady", stage(t, h))
			h.Ready("Shop tea")
			assert.NotEqual(t, before, certOf(t, h.Get(secretCA)))
			assert.Equal(t, 3*(roll+2), replicaSets())
			for _, name := range []string{"web", "worker", "probe"} {
				assert.EqualValues(t, roll+1, restarts(h, name), name)
			}
			assert.EqualValues(t, roll+2, server.starts.Load())
			assert.EqualValues(t, roll+2, client.starts.Load())
		}
		stop()
		group.Wait()
		assert.Zero(t, tr.failed.Load(), "%v", tr.failure.Load())
		mark := env.Mark(t)
		_, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Empty(t, env.CallsSince(t, mark, env.Self).Count())
	})
	t.Logf("COUNT handshakes of programs that are restarted %d, failed %d", tr.done.Load(), tr.failed.Load())
}
