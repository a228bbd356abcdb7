package tls_test

import (
	"context"
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// slow is a cluster in which something happens just before the CA is created, and before the next step of its
// replacement is written.
type slow struct {
	deploy.Cluster
	create, patch func()
}

// Port implements deploy.Cluster.
func (s *slow) Port() deploy.Port { return slowPort{s.Cluster.Port(), s} }

type slowPort struct {
	deploy.Port
	slow *slow
}

// Create implements deploy.Port.
func (p slowPort) Create(ctx context.Context, obj *unstructured.Unstructured, options deploy.CreateOptions) (*unstructured.Unstructured, error) {
	if happens := p.slow.create; happens != nil && obj.GetName() == "tea-tls-ca" {
		p.slow.create = nil
		happens()
	}
	return p.Port.Create(ctx, obj, options)
}

// Patch implements deploy.Port.
func (p slowPort) Patch(ctx context.Context, ref deploy.Ref, patch deploy.PatchRequest) (*unstructured.Unstructured, error) {
	if happens := p.slow.patch; happens != nil && ref.Name == "tea-tls-ca" {
		p.slow.patch = nil
		happens()
	}
	return p.Port.Patch(ctx, ref, patch)
}

// Two processes reconcile the shop at the same time, for example while leadership changes.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	t.Cleanup(memory.Wait)
	tea := newTea(nil)
	tea.SetNamespace("test")
	_, err = memory.Port().Create(t.Context(), tea, deploy.CreateOptions{})
	require.NoError(t, err)
	process := func(c deploy.Cluster) func() {
		manager, err := deploy.NewManager(c)
		require.NoError(t, err)
		r, err := reconcile.New(shop(), manager)
		require.NoError(t, err)
		return func() {
			_, err := r.Reconcile(t.Context(), request.Request{Key: deploy.RefOf(tea)})
			require.NoError(t, err)
		}
	}
	secret := func(name string) *unstructured.Unstructured {
		found, err := memory.Port().Get(t.Context(), deploy.Ref{Kind: deploy.RefOf(&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "Secret"}}).Kind, Namespace: "test", Name: name})
		require.NoError(t, err)
		return found
	}
	delayed := &slow{Cluster: memory}
	first, second := process(delayed), process(memory)
	var winner []byte

	delayed.create = func() {
		second()
		winner = dataOf(t, secret("tea-tls-ca"))["tls.crt"]
	}
	first()
	t.Run("tls 25: of two processes that create the CA, one loses, and issues with the CA of the other one", func(t *testing.T) {
		require.NotNil(t, winner)
		assert.Equal(t, string(winner), string(dataOf(t, secret("tea-tls-ca"))["tls.crt"]))
		require.NoError(t, handshake(load(t, secret("tea-web-tls")), load(t, secret("tea-worker-tls")), "web", certOf(t, secret("tea-web-tls")).NotBefore.Add(hour)))
	})

	ca := secret("tea-tls-ca").DeepCopy()
	ca.SetAnnotations(map[string]string{"operkit.dev/renew": "now"})
	_, err = memory.Port().Update(t.Context(), ca, deploy.UpdateOptions{})
	require.NoError(t, err)
	var next []byte
	delayed.patch = func() {
		second()
		next = dataOf(t, secret("tea-tls-ca"))["next.crt"]
	}
	first()
	t.Run("tls 25: of two processes that begin the replacement of the CA, one loses", func(t *testing.T) {
		require.NotNil(t, next)
		data := dataOf(t, secret("tea-tls-ca"))
		assert.Equal(t, string(next), string(data["next.crt"]))
		assert.Equal(t, string(winner), string(data["tls.crt"]))
		assert.Equal(t, string(data["ca.crt"]), string(dataOf(t, secret("tea-web-tls"))["ca.crt"]))
	})
}
