package tls_test

import (
	"context"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const day = 24 * time.Hour

func TestOwn(t *testing.T) {
	t.Parallel()
	t.Run("tls 9: each component has a Secret of the type kubernetes.io/tls, and the two speak mutual TLS", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(map[string]any{"names": []any{"10.0.0.1", "*.shop.example"}}))
		h.RunUntilSettled()
		h.Created(secretCA, bundle, secretWeb, secretWorker, "ConfigMap tea-web", "ConfigMap tea-worker")
		h.Ready("Shop tea")
		web, worker := h.Get(secretWeb), h.Get(secretWorker)
		assert.Equal(t, "kubernetes.io/tls", web.Object["type"])
		server, client := load(t, web), load(t, worker)
		for _, name := range []string{"web", "web.test", "web.test.svc", "web.test.svc.cluster.local", "10.0.0.1", "a.shop.example"} {
			require.NoError(t, handshake(server, client, name, h.Now()), name)
		}
		require.ErrorContains(t, handshake(server, client, "other", h.Now()), "other")
		require.Error(t, handshake(client, server, "worker", h.Now()), "a client has no names")
		settings := h.Get("ConfigMap tea-web").Object["data"].(map[string]any)
		assert.Equal(t, "tea-web-tls", settings["secret"])
		assert.NotEmpty(t, settings["digest"])
		assert.Equal(t, string(dataOf(t, web)["ca.crt"]), settings["ca"])
		assert.Equal(t, settings["ca"], h.Get(bundle).Object["data"].(map[string]any)["ca.crt"])
	})
	t.Run("tls 9: a component may have the name of anything that the source makes", func(t *testing.T) {
		t.Parallel()
		for _, source := range []func(*reconcile.Session) tls.Source{
			func(s *reconcile.Session) tls.Source { return tls.Own(s) }, by(), by(tls.Issuer("ClusterIssuer", "corp")),
		} {
			h := reconciletest.New(t, reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
				ca := source(s)
				for _, name := range []string{"bundle", "ca", "issuer", "self-signed", "cert", "tls-roll-1"} {
					web := &reader{}
					web.cert = ca.Certificate(s.Use(name, web))
				}
				return nil
			}))
			h.Apply(newTea(nil))
			settle(h, newPlayer(t, h, "test"))
			h.Ready("Shop tea")
		}
	})
	t.Run("tls 10: settled, it costs no call, also after a restart", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
	t.Run("tls 11: all is renewed in time, by the clock of the session", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		before, ca := certOf(t, h.Get(secretWeb)), certOf(t, h.Get(secretCA))
		h.Advance(240 * day)
		h.Writes(0)
		h.Advance(60 * day)
		h.Configured(secretWeb, secretWorker)
		server, client := load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker))
		require.NoError(t, handshake(server, client, "web", h.Now()))
		require.NoError(t, handshake(server, client, "web", before.NotAfter.Add(day)))
		assert.Equal(t, ca, certOf(t, h.Get(secretCA)), "the CA stays")
	})
	t.Run("tls 11: the next reconcile is at the next renewal", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shop(), reconciletest.With(reconcile.Period(0)))
		h.Apply(newTea(nil))
		_, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		result, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		cert := certOf(t, h.Get(secretWeb))
		assert.Equal(t, cert.NotBefore.Add(cert.NotAfter.Sub(cert.NotBefore)/3*2).Sub(h.Now()), result.RequeueAfter)
	})
	t.Run("tls 12: a component that is disabled has no certificate", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(map[string]any{"idle": true}))
		h.RunUntilSettled()
		h.Gone(secretWorker)
		h.Ready("Shop tea")
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{} })
		h.RunUntilSettled()
		h.Created(secretWorker)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"idle": true} })
		h.RunUntilSettled()
		h.Deleted(secretWorker)
		h.Exists(secretWeb)
	})
	t.Run("tls 13: a change of the names issues a new certificate, of that component only", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"names": []any{"::1"}} })
		h.RunUntilSettled()
		h.Configured(secretWeb, "ConfigMap tea-web")
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "::1", h.Now()))
	})
	t.Run("tls 14: a name that is invalid is a mistake in the resource", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(map[string]any{"names": []any{"bücher.example"}}))
		h.RunUntilSettled()
		ready := h.Condition("Shop tea", status.ConditionReady)
		assert.Equal(t, "ConfigError", ready.Reason)
		assert.Contains(t, ready.Message, `certificate web: "bücher.example": the name has characters beyond ASCII`)
	})
	t.Run("tls 15: a new certificate at will, once for each value of the annotation", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		before := certOf(t, h.Get(secretWeb))
		annotate(h, secretWeb, "operkit.dev/renew", "today")
		h.RunUntilSettled()
		h.Configured(secretWeb, "ConfigMap tea-web")
		assert.NotEqual(t, before.SerialNumber, certOf(t, h.Get(secretWeb)).SerialNumber)
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
}

func TestOwnMistakes(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		opts []tls.Option
		want string
	}{
		"a life too short":      {[]tls.Option{tls.Life(time.Minute)}, "life of certificates: 1m0s: at least 1h0m0s is needed"},
		"a CA's life too short": {[]tls.Option{tls.CALife(day)}, "life of a CA: 24h0m0s: at least 17524h0m0s is needed"},
		"a negative wait":       {[]tls.Option{nil, tls.Wait(-time.Second)}, "wait: -1s: it can't be negative"},
	} {
		t.Run("tls 16: "+reason, func(t *testing.T) {
			t.Parallel()
			h, _ := newHarness(t, row.opts...)
			h.Apply(newTea(nil))
			h.RunUntilSettled()
			assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, row.want)
			h.Gone(secretCA, secretWeb)
		})
	}
}
