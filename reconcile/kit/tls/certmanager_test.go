package tls_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"github.com/operkit/operkit/status/readiness/known"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The names of the Secrets and the bundle in a shop with cert-manager.
const (
	orderedCA     = "Secret tea-cert-ca"
	orderedWeb    = "Secret tea-web-cert"
	orderedWorker = "Secret tea-worker-cert"
	orderedBundle = "ConfigMap tea-cert-bundle"
)

// ordering is the shop with certificates of cert-manager.
func ordering(opts ...tls.Option) reconcile.Controller {
	return shopWith(func(s *reconcile.Session) tls.Source { return tls.CertManager(s, opts...) })
}

// newOrdering returns a harness with ordering, and what plays cert-manager.
func newOrdering(t *testing.T, opts ...tls.Option) (*reconciletest.Harness, *player) {
	t.Helper()
	h := reconciletest.New(t, ordering(opts...), reconciletest.With(reconcile.Period(24*time.Hour)),
		reconciletest.Memory(dryrun.AnyKind(schema.GroupKind{Group: "trust.cert-manager.io", Kind: "Bundle"})))
	return h, newPlayer(t, h, "test")
}

// settle runs the operator and cert-manager in turn.
func settle(h *reconciletest.Harness, p *player) {
	for range 3 {
		h.RunUntilSettled()
		p.play()
	}
	h.RunUntilSettled()
}

func TestCertManager(t *testing.T) {
	t.Parallel()
	t.Run("tls 40: each component has a Certificate, and the two speak mutual TLS", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(map[string]any{"names": []any{"10.0.0.1", "*.shop.example"}}))
		h.RunUntilSettled()
		spec := h.Get("Certificate tea-web-cert").Object["spec"]
		assert.Equal(t, map[string]any{
			"secretName":  "tea-web-cert",
			"dnsNames":    []any{"*.shop.example", "web", "web.test", "web.test.svc", "web.test.svc.cluster.local"},
			"ipAddresses": []any{"10.0.0.1"},
			"duration":    "8760h0m0s",
			"usages":      []any{"digital signature", "server auth", "client auth"},
			"privateKey":  map[string]any{"algorithm": "ECDSA", "size": int64(256), "encoding": "PKCS8", "rotationPolicy": "Always"},
			"issuerRef":   map[string]any{"group": "cert-manager.io", "kind": "Issuer", "name": "tea-cert-ca"},
		}, spec)
		assert.Equal(t, "tea-worker", text(h.Get("Certificate tea-worker-cert"), "spec", "commonName"), "a client has no other name")
		settle(h, p)
		h.Ready("Shop tea")
		server, client := load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker))
		for _, name := range []string{"web", "web.test.svc.cluster.local", "10.0.0.1", "a.shop.example"} {
			require.NoError(t, handshake(server, client, name, h.Now()), name)
		}
		settings := h.Get("ConfigMap tea-web").Object["data"].(map[string]any)
		assert.Equal(t, "tea-web-cert", settings["secret"])
		assert.NotEmpty(t, settings["digest"])
		assert.Equal(t, settings["ca"], h.Get(orderedBundle).Object["data"].(map[string]any)["ca.crt"])
		assert.Equal(t, settings["ca"], string(dataOf(t, h.Get(orderedCA))["tls.crt"]))
	})
	for reason, options := range map[string][]reconcile.Option{
		"with the rules of cert-manager": {reconcile.ReadyBy(readiness.Checker{Registry: known.Kinds()})},
		"without them":                   nil,
	} {
		t.Run("tls 41: a component waits for its Certificate to be Ready, and for its Secret, "+reason, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, ordering(tls.Issuer("ClusterIssuer", "corp")), reconciletest.With(options...))
			p := newPlayer(t, h, "test")
			h.Apply(newTea(nil))
			h.RunUntilSettled()
			h.Gone("ConfigMap tea-web", "ConfigMap tea-worker", orderedBundle)
			assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, "cert-manager hasn't handled the object: ClusterIssuer corp issues it into Secret tea-web-cert")

			p.store(h.Get("Certificate tea-web-cert"), p.corp, true)
			h.RunUntilSettled()
			h.Gone("ConfigMap tea-web")
			p.play()
			h.Delete(orderedWorker)
			h.RunUntilSettled()
			h.Exists("ConfigMap tea-web")
			h.Gone("ConfigMap tea-worker")
			assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, "Secret tea-worker-cert isn't there yet")
			settle(h, p)
			h.Ready("Shop tea")
			h.Exists("ConfigMap tea-worker")
		})
	}
	t.Run("tls 42: a change of the names waits until the Secret has them", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(nil))
		settle(h, p)
		before := h.Get("ConfigMap tea-web")
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"names": []any{"::1"}} })
		h.RunUntilSettled()
		certificate := h.Get("Certificate tea-web-cert")
		h.SetStatus("Certificate tea-web-cert", map[string]any{"conditions": []any{condition(certificate, "Ready", "True", "Ready", "")}})
		h.RunUntilSettled()
		assert.Equal(t, before.Object["data"], h.Get("ConfigMap tea-web").Object["data"])
		assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, "Secret tea-web-cert has another certificate: it isn't valid for ::1")
		p.renew("tea-web-cert")
		h.RunUntilSettled()
		h.Ready("Shop tea")
		require.NoError(t, handshake(load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker)), "::1", h.Now()))
		assert.NotEqual(t, before.Object["data"], h.Get("ConfigMap tea-web").Object["data"])
	})
	t.Run("tls 43: settled, it costs no call, also after a restart", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(nil))
		settle(h, p)
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		h.Ready("Shop tea")
	})
	for reason, row := range map[string]struct {
		why  [2]string
		want string
	}{
		"failed": {[2]string{"Failed", "rate limited"}, "will be retried: rate limited (at 2030-01-01T00:00:00Z)"},
		"denied": {[2]string{"Denied", "no such policy"}, "will be retried: no such policy (at 2030-01-01T00:00:00Z)"},
	} {
		t.Run("tls 44: a request that has "+reason+" fails the component with the reason, and only what asked for it waits", func(t *testing.T) {
			t.Parallel()
			h, p := newOrdering(t)
			p.refuses["tea-web-cert"] = row.why
			h.Apply(newTea(nil))
			settle(h, p)
			ready := h.Condition("Shop tea", status.ConditionReady)
			assert.Equal(t, "Errored", ready.Reason)
			assert.Contains(t, ready.Message, "Certificate tea-web-cert: ")
			assert.Contains(t, ready.Message, row.want)
			h.Gone("ConfigMap tea-web")
			h.Exists("ConfigMap tea-worker")
			delete(p.refuses, "tea-web-cert")
			settle(h, p)
			h.Ready("Shop tea")
		})
	}
	t.Run("tls 44: what a request waits for is in the message, by the latest one of the Certificate", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.Issuer("Issuer", "gone"))
		h.Apply(newTea(nil))
		settle(h, p)
		asks := func(name, revision, owner string, conditions ...any) {
			h.Apply(map[string]any{"apiVersion": "cert-manager.io/v1", "kind": "CertificateRequest",
				"metadata": map[string]any{"name": name, "annotations": map[string]any{"cert-manager.io/certificate-revision": revision},
					"ownerReferences": []any{map[string]any{"apiVersion": "cert-manager.io/v1", "kind": "Certificate", "name": owner,
						"uid": string(h.Get("Certificate " + owner).GetUID()), "controller": true}}},
				"status": map[string]any{"conditions": conditions}})
			_, err := h.Reconcile("Shop tea")
			require.NoError(t, err)
		}
		message := func() string { return h.Condition("Shop tea", status.ConditionReady).Message }
		approved := map[string]any{"type": "Approved", "status": "True", "reason": "cert-manager.io", "message": "approved"}
		asks("tea-worker-cert-1", "1", "tea-worker-cert", map[string]any{"type": "Ready", "status": "False", "reason": "Pending", "message": "of another one"})
		asks("tea-web-cert-9", "9", "tea-web-cert")
		assert.Contains(t, message(), "Issuer gone issues it into Secret tea-web-cert: CertificateRequest tea-web-cert-9: it isn't approved yet; ")
		assert.Contains(t, message(), "CertificateRequest tea-worker-cert-1: of another one")
		asks("tea-web-cert-9", "9", "tea-web-cert", approved)
		assert.Contains(t, message(), "CertificateRequest tea-web-cert-9: its issuer hasn't handled it yet")
		asks("tea-web-cert-10", "10", "tea-web-cert", approved,
			map[string]any{"type": "Ready", "status": "False", "reason": "Pending", "message": `Referenced "Issuer" not found`})
		assert.Contains(t, message(), `CertificateRequest tea-web-cert-10: Referenced "Issuer" not found`)
	})
	t.Run("tls 45: with an issuer that is named there is no CA of the resource's own", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.Issuer("ClusterIssuer", "corp"), tls.Life(90*day))
		h.Apply(newTea(nil))
		settle(h, p)
		h.Ready("Shop tea")
		assert.Empty(t, p.list(issuers))
		assert.Equal(t, "2160h0m0s", text(h.Get("Certificate tea-web-cert"), "spec", "duration"))
		assert.Equal(t, string(p.corp.pem), h.Get(orderedBundle).Object["data"].(map[string]any)["ca.crt"])
	})
	t.Run("tls 45: an issuer of another group", func(t *testing.T) {
		t.Parallel()
		h, _ := newOrdering(t, tls.Issuer("AWSPCAClusterIssuer.awspca.cert-manager.io", "pca"))
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		by, _, _ := unstructured.NestedMap(h.Get("Certificate tea-web-cert").Object, "spec", "issuerRef")
		assert.Equal(t, map[string]any{"group": "awspca.cert-manager.io", "kind": "AWSPCAClusterIssuer", "name": "pca"}, by)
	})
	t.Run("tls 46: an issuer that doesn't name its CA gives no bundle, and CA is nil", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.Issuer("ClusterIssuer", "public"))
		h.Apply(newTea(nil))
		settle(h, p)
		h.Ready("Shop tea")
		h.Gone(orderedBundle)
		settings := h.Get("ConfigMap tea-web").Object["data"].(map[string]any)
		assert.Empty(t, settings["ca"])
		assert.NotEmpty(t, settings["digest"])
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 46: when an issuer that names its CA was used before, the bundle of that time goes", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shopWith(func(s *reconcile.Session) tls.Source {
			name, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "issuer")
			return tls.CertManager(s, tls.Issuer("ClusterIssuer", name))
		}), reconciletest.With(reconcile.Period(24*time.Hour)))
		p := newPlayer(t, h, "test")
		h.Apply(newTea(map[string]any{"issuer": "corp"}))
		settle(h, p)
		h.Exists(orderedBundle)
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"issuer": "public"} })
		settle(h, p)
		h.Ready("Shop tea")
		h.Gone(orderedBundle)
		assert.Empty(t, h.Get("ConfigMap tea-web").Object["data"].(map[string]any)["ca"], "programs would refuse the present certificates by it")
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 47: a disabled component has no Certificate, and asking for one is no error", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(map[string]any{"idle": true}))
		settle(h, p)
		h.Ready("Shop tea")
		h.Gone("Certificate tea-worker-cert")
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{} })
		settle(h, p)
		h.Exists("Certificate tea-worker-cert")
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"idle": true} })
		settle(h, p)
		h.Gone("Certificate tea-worker-cert")
		h.Exists(orderedWorker)
	})
	t.Run("tls 48: a resource with a name of 63 characters", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		long := newTea(nil)
		long.SetName(strings.Repeat("t", 63))
		h.Apply(long)
		settle(h, p)
		h.Ready("Shop " + long.GetName())
		found := p.list(certificates)
		require.Len(t, found, 3)
		for _, certificate := range found {
			assert.LessOrEqual(t, len(certificate.GetName()), 63)
			assert.LessOrEqual(t, len(text(certificate, "spec", "commonName")), 64)
		}
	})
	t.Run("tls 49: the source of a component is changed in one line: what Own has stored is deleted when the new certificates are used", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, shopWith(func(s *reconcile.Session) tls.Source {
			if by, _, _ := unstructured.NestedString(s.Resource().Object, "spec", "by"); by == "cert-manager" {
				return tls.CertManager(s)
			}
			return tls.Own(s)
		}), reconciletest.With(reconcile.Period(24*time.Hour)))
		p := newPlayer(t, h, "test")
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.Edit("Shop tea", func(obj *unstructured.Unstructured) { obj.Object["spec"] = map[string]any{"by": "cert-manager"} })
		h.RunUntilSettled()
		h.Exists(secretWeb, secretWorker)
		assert.Equal(t, "tea-web-tls", text(h.Get("ConfigMap tea-web"), "data", "secret"), "it waits")
		settle(h, p)
		h.Ready("Shop tea")
		h.Gone(secretWeb, secretWorker, secretCA, bundle)
		assert.Equal(t, "tea-web-cert", text(h.Get("ConfigMap tea-web"), "data", "secret"))
		require.NoError(t, handshake(load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker)), "web", h.Now()))
	})
}

func TestCertManagerMistakes(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		source func(s *reconcile.Session) tls.Source
		spec   map[string]any
		want   string
	}{
		"tls 51: an issuer without a name":         {source: by(tls.Issuer("Issuer", "")), want: `issuer "Issuer" "": it needs a kind and a name`},
		"tls 51: an issuer without a kind":         {source: by(tls.Issuer("", "corp")), want: `issuer "" "corp": it needs a kind and a name`},
		"tls 51: a Bundle without a name":          {source: by(tls.TrustBundle("")), want: "trust bundle: it needs a name"},
		"tls 51: a life too short":                 {source: by(tls.Life(time.Minute)), want: "life of certificates: 1m0s: at least 1h0m0s is needed"},
		"tls 51: a CA's life too short":            {source: by(tls.CALife(day)), want: "life of a CA: 24h0m0s"},
		"tls 51: options of CertManager given Own": {source: func(s *reconcile.Session) tls.Source { return tls.Own(s, tls.Issuer("Issuer", "corp")) }, want: "Own has a CA of its own: use CertManager"},
		"tls 51: a certificate is asked for twice": {source: func(s *reconcile.Session) tls.Source {
			r := tls.CertManager(s)
			r.Certificate(s.Add("twice"))
			r.Named(nil, "nobody")
			r.Certificate(s.Component("twice"))
			return r
		}, want: "certificate twice: is asked for twice: use Named for a second one"},
		"tls 51: an invalid name": {source: by(), spec: map[string]any{"names": []any{"bücher.example"}}, want: `certificate web: "bücher.example": the name has characters beyond ASCII`},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, shopWith(row.source))
			h.Apply(newTea(row.spec))
			h.RunUntilSettled()
			assert.Contains(t, h.Condition("Shop tea", status.ConditionReady).Message, row.want)
			h.Gone("ConfigMap tea-web")
		})
	}
}

// by returns CertManager with options.
func by(opts ...tls.Option) func(*reconcile.Session) tls.Source {
	return func(s *reconcile.Session) tls.Source { return tls.CertManager(s, opts...) }
}

// shopWith is the shop with certificates of a source.
func shopWith(source func(*reconcile.Session) tls.Source) reconcile.Controller {
	return reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
		names, _, _ := unstructured.NestedStringSlice(s.Resource().Object, "spec", "names")
		idle, _, _ := unstructured.NestedBool(s.Resource().Object, "spec", "idle")
		server, client := &reader{}, &reader{}
		web, worker := s.Use("web", server), s.Use("worker", client)
		if idle {
			worker.Disable()
		}
		ca := source(s)
		server.cert = ca.Certificate(web, append(tls.Service("web", s.Namespace()), names...)...)
		client.cert = ca.Certificate(worker)
		return nil
	})
}
