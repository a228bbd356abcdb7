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
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/tools/envtest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const shopDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.tls.example.com}
spec:
  group: tls.example.com
  names: {kind: Shop, plural: shops, singular: shop}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// waits is how long programs may take on the API server, where time is real.
const waits = 4 * time.Second

// traffic is a server and a client in the test process that read their Secrets anew each second.
type traffic struct {
	server, client atomic.Pointer[program]
	done, failed   atomic.Int64
	failure        atomic.Value
}

// follow keeps a program as its Secret is.
func (tr *traffic) follow(ctx context.Context, t *testing.T, c deploy.Cluster, ref deploy.Ref, into *atomic.Pointer[program]) {
	for ctx.Err() == nil {
		secret, err := c.Port().Get(ctx, ref)
		if ctx.Err() != nil {
			return
		}
		if assert.NoError(t, err) && assert.NotNil(t, secret) {
			into.Store(load(t, secret))
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// connect makes handshakes without a pause.
func (tr *traffic) connect(ctx context.Context) {
	for ctx.Err() == nil {
		server, client := tr.server.Load(), tr.client.Load()
		if server == nil || client == nil {
			time.Sleep(time.Millisecond)
			continue
		}
		if err := handshake(server, client, "web", time.Now()); err != nil {
			tr.failed.Add(1)
			tr.failure.Store(err.Error())
		}
		tr.done.Add(1)
	}
}

// TestOwnOnTheAPIServer has the stages under load; at least 10000 handshakes in the long test, otherwise 500.
func TestOwnOnTheAPIServer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shops.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shopDefinition), 0o600))
	env := envtest.Start(t, envtest.CRDs(file))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c, err := cluster.New(ctx, env.Config, cluster.Namespaces(env.Namespace))
	require.NoError(t, err)
	h := reconciletest.New(t, shop(tls.Wait(waits)), reconciletest.On(c, waits+time.Second), reconciletest.Namespace(env.Namespace),
		reconciletest.With(reconcile.Period(24*time.Hour)))
	h.Apply(newTea(map[string]any{}))
	h.RunUntilSettled()
	h.Ready("Shop tea")
	secret := func(name string) deploy.Ref {
		return deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Secret"}, Namespace: env.Namespace, Name: name}
	}

	t.Run("tls 29: on the API server: a real server and client speak mutual TLS, and settled, it costs no call", func(t *testing.T) {
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", time.Now()))
		mark := env.Mark(t)
		result, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Positive(t, result.RequeueAfter)
		assert.Empty(t, env.CallsSince(t, mark).Count())
	})
	t.Run("tls 29: on the API server: a certificate stored by hand stays while it is valid, and is replaced otherwise", func(t *testing.T) {
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWeb))
		byHand := certOf(t, h.Get(secretWeb))
		h.RunUntilSettled()
		h.RunUntilSettled()
		// The clock in memory, by which it was issued, is ahead of the real one.
		assert.NotEqual(t, byHand, certOf(t, h.Get(secretWeb)))
		worker := pair(t, h, secretWorker)
		setData(t, h, secretWorker, pair(t, h, secretWeb))
		h.RunUntilSettled()
		assert.Equal(t, certOf(t, h.Get(secretWeb)), certOf(t, h.Get(secretWorker)), "it is valid for a client, too")
		h.RunUntilSettled()
		h.Writes(0)
		setData(t, h, secretWorker, worker)
		h.RunUntilSettled()
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("tls 29: on the API server: the CA is replaced under load without a failed handshake", func(t *testing.T) {
		least := int64(500)
		if os.Getenv("OPERKIT_SOAK") != "" {
			least = 10000
		}
		loading, stop := context.WithCancel(ctx)
		tr := &traffic{}
		var group sync.WaitGroup
		group.Go(func() { tr.follow(loading, t, c, secret("tea-web-tls"), &tr.server) })
		group.Go(func() { tr.follow(loading, t, c, secret("tea-worker-tls"), &tr.client) })
		group.Go(func() { tr.connect(loading) })
		before := certOf(t, h.Get(secretCA))
		for n := 0; n == 0 || tr.done.Load() < least; n++ {
			annotate(h, secretCA, "operkit.dev/renew", time.Now().Format(time.RFC3339Nano))
			h.RunUntilSettled()
			assert.Equal(t, "Steady", stage(t, h))
		}
		stop()
		group.Wait()
		assert.NotEqual(t, before, certOf(t, h.Get(secretCA)))
		assert.Zero(t, tr.failed.Load(), "%v", tr.failure.Load())
		t.Logf("COUNT handshakes on the API server %d, failed %d", tr.done.Load(), tr.failed.Load())
	})
	t.Run("tls 29: on the API server: with a clock that is 300 days ahead, all is renewed", func(t *testing.T) {
		later := time.Now().Add(300 * day)
		manager, err := deploy.NewManager(c)
		require.NoError(t, err)
		r, err := reconcile.New(shop(tls.Wait(waits)), manager, reconcile.Clock(func() time.Time { return later }))
		require.NoError(t, err)
		before, worker := certOf(t, h.Get(secretWeb)), certOf(t, h.Get(secretWorker))
		_, err = r.Reconcile(ctx, request.Request{Key: deploy.RefOf(h.Get("Shop tea"))})
		require.NoError(t, err)
		assert.NotEqual(t, before, certOf(t, h.Get(secretWeb)))
		assert.NotEqual(t, worker, certOf(t, h.Get(secretWorker)))
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", later))
	})
	h.Delete("Shop tea")
}
