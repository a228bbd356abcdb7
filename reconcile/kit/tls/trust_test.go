package tls_test

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// trusting is a program with the certificate of a Secret that trusts what a ConfigMap has.
func trusting(t *testing.T, h *reconciletest.Harness, secret, configMap string) *program {
	t.Helper()
	p := load(t, h.Get(secret))
	p.pool = x509.NewCertPool()
	require.True(t, p.pool.AppendCertsFromPEM([]byte(text(h.Get(configMap), "data", "ca.crt"))))
	return p
}

// inOrder reports whether the two components speak mutual TLS with what the bundle has.
func inOrder(t *testing.T, h *reconciletest.Harness) error {
	t.Helper()
	return handshake(trusting(t, h, orderedWeb, orderedBundle), trusting(t, h, orderedWorker, orderedBundle), "web", h.Now())
}

// corporate is a shop whose certificates the ClusterIssuer corp issues.
func corporate(t *testing.T) (*reconciletest.Harness, *player) {
	t.Helper()
	h, p := newOrdering(t, tls.Issuer("ClusterIssuer", "corp"))
	h.Apply(newTea(nil))
	settle(h, p)
	return h, p
}

func TestBundleOfCertManager(t *testing.T) {
	t.Parallel()
	t.Run("tls 52: when the CA of an issuer is replaced, programs that trust the bundle trust each other", func(t *testing.T) {
		t.Parallel()
		h, p := corporate(t)
		former := p.corp
		p.roll()
		require.NoError(t, inOrder(t, h))
		p.renew("tea-web-cert")
		h.RunUntilSettled()
		require.NoError(t, inOrder(t, h), "one certificate is new, the other one isn't")
		require.Error(t, handshake(load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker)), "web", h.Now()), "ca.crt of a Secret has one CA only")
		p.renew("tea-worker-cert")
		h.RunUntilSettled()
		require.NoError(t, inOrder(t, h))
		content := text(h.Get(orderedBundle), "data", "ca.crt")
		assert.Equal(t, string(former.pem)+string(p.corp.pem), content, "the former CA stays until it expires")
		assert.Equal(t, content, text(h.Get("ConfigMap tea-web"), "data", "ca"))
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 53: a CA that has expired is dropped, without another event", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.Issuer("ClusterIssuer", "corp"))
		p.lasts = 100 * day
		p.roll()
		h.Apply(newTea(nil))
		settle(h, p)
		h.Advance(80 * day)
		p.roll()
		p.renew("tea-web-cert")
		p.renew("tea-worker-cert")
		h.RunUntilSettled()
		assert.Equal(t, 2, strings.Count(text(h.Get(orderedBundle), "data", "ca.crt"), "BEGIN"))
		h.Advance(21 * day)
		assert.Equal(t, string(p.corp.pem), text(h.Get(orderedBundle), "data", "ca.crt"))
	})
	t.Run("tls 53: the next reconcile is when a CA expires", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, ordering(tls.Issuer("ClusterIssuer", "corp")), reconciletest.With(reconcile.Period(0)))
		p := newPlayer(t, h, "test")
		h.Apply(newTea(nil))
		for range 2 {
			_, err := h.Reconcile("Shop tea")
			require.NoError(t, err)
			p.play()
		}
		result, err := h.Reconcile("Shop tea")
		require.NoError(t, err)
		assert.Equal(t, p.corp.cert.NotAfter.Sub(h.Now()), result.RequeueAfter)
	})
	t.Run("tls 54: a CA of the resource's own keeps its key when it is renewed, so that ca.crt of a Secret is enough", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(nil))
		settle(h, p)
		before := certOf(t, h.Get(orderedCA))
		p.renew("tea-cert-ca")
		p.renew("tea-web-cert")
		h.RunUntilSettled()
		require.NotEqual(t, before, certOf(t, h.Get(orderedCA)))
		require.NoError(t, handshake(load(t, h.Get(orderedWeb)), load(t, h.Get(orderedWorker)), "web", h.Now()))
		require.NoError(t, inOrder(t, h))
	})
	t.Run("tls 54: if its Secret was deleted, there is another CA, and the former one is trusted as long as it is in the bundle", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(nil))
		settle(h, p)
		former := string(dataOf(t, h.Get(orderedCA))["tls.crt"])
		h.Delete(orderedCA)
		settle(h, p)
		h.Ready("Shop tea")
		p.renew("tea-web-cert")
		h.RunUntilSettled()
		require.NoError(t, inOrder(t, h))
		p.renew("tea-worker-cert")
		h.RunUntilSettled()
		assert.Contains(t, text(h.Get(orderedBundle), "data", "ca.crt"), former)
		h.Delete(orderedBundle)
		h.RunUntilSettled()
		assert.NotContains(t, text(h.Get(orderedBundle), "data", "ca.crt"), former, "a bundle that was deleted is made of the present CAs")
		require.NoError(t, inOrder(t, h))
	})
	t.Run("tls 52: a component that only reads the bundle waits until a CA is known", func(t *testing.T) {
		t.Parallel()
		h := reconciletest.New(t, reconciletest.Controlling(shopKind, func(_ context.Context, s *reconcile.Session) error {
			ca := tls.CertManager(s)
			probe := s.Add("probe", reconcile.YAML("{apiVersion: v1, kind: ConfigMap, metadata: {name: probe}}"))
			assert.Equal(t, "tea-cert-bundle", ca.Bundle(probe, nil, s.Add("idle").Disable()))
			assert.Equal(t, tls.ComponentBundle, ca.Component().Name())
			return nil
		}))
		p := newPlayer(t, h, "test")
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.Gone("ConfigMap probe", orderedBundle)
		settle(h, p)
		h.Ready("Shop tea")
		h.Exists("ConfigMap probe")
		assert.Equal(t, string(dataOf(t, h.Get(orderedCA))["tls.crt"]), text(h.Get(orderedBundle), "data", "ca.crt"))
	})
	t.Run("tls 55: a CA that was added to the bundle by hand stays, so that it is trusted before it issues", func(t *testing.T) {
		t.Parallel()
		h, p := corporate(t)
		p.roll()
		next := string(p.corp.pem)
		h.Edit(orderedBundle, func(obj *unstructured.Unstructured) {
			content := text(obj, "data", "ca.crt")
			require.NoError(t, unstructured.SetNestedField(obj.Object, content+"junk\n"+next, "data", "ca.crt"))
		})
		h.RunUntilSettled()
		assert.Contains(t, text(h.Get(orderedBundle), "data", "ca.crt"), next)
		assert.NotContains(t, text(h.Get(orderedBundle), "data", "ca.crt"), "junk")
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		peer := trusting(t, h, orderedWorker, orderedBundle)
		p.renew("tea-web-cert")
		require.NoError(t, handshake(trusting(t, h, orderedWeb, orderedBundle), peer, "web", h.Now()), "at once")
	})
}

// newBundle is a Bundle of trust-manager with its status.
func newBundle(key, state, message string, generation any) map[string]any {
	return map[string]any{"apiVersion": "trust.cert-manager.io/v1alpha1", "kind": "Bundle", "metadata": map[string]any{"name": "corp-cas"},
		"spec": map[string]any{"target": map[string]any{"configMap": map[string]any{"key": key}}},
		"status": map[string]any{"conditions": []any{
			map[string]any{"type": "Other", "status": "True"},
			map[string]any{"type": "Synced", "status": state, "reason": "Synced", "message": message, "observedGeneration": generation},
		}}}
}

func TestTrustBundle(t *testing.T) {
	t.Parallel()
	t.Run("tls 56: with a Bundle of trust-manager, components wait until it is Synced and its ConfigMap is there", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.Issuer("ClusterIssuer", "corp"), tls.TrustBundle("corp-cas"))
		h.Apply(newTea(nil))
		settle(h, p)
		waits := func(message string) {
			t.Helper()
			h.RunUntilSettled()
			h.Gone("ConfigMap tea-web")
			assert.Contains(t, h.Condition("Shop tea", status.ConditionUpdating).Message, message)
		}
		waits("Bundle corp-cas isn't there: make it, or correct tls.TrustBundle")
		h.Apply(newBundle("root.pem", "False", "source missing", int64(1)))
		waits("Bundle corp-cas: the condition Synced isn't True: source missing")
		h.Apply(newBundle("root.pem", "True", "", int64(7)))
		waits("trust-manager hasn't handled the change yet")
		h.Apply(newBundle("root.pem", "", "", int64(1)))
		waits("trust-manager hasn't handled it yet")
		h.Apply(newBundle("root.pem", "True", "", int64(1)))
		waits("ConfigMap corp-cas has no root.pem yet")
		h.Apply(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "corp-cas"}, "data": map[string]any{"root.pem": string(p.corp.pem)}})
		h.RunUntilSettled()
		h.Ready("Shop tea")
		h.Gone(orderedBundle)
		assert.Equal(t, string(p.corp.pem), text(h.Get("ConfigMap tea-web"), "data", "ca"))
		h.RunUntilSettled()
		assert.Empty(t, h.Calls())
	})
	t.Run("tls 56: a Bundle without a ConfigMap as its target is a mistake", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t, tls.TrustBundle("corp-cas"))
		h.Apply(newTea(nil), newBundle("", "True", "", int64(1)))
		settle(h, p)
		ready := h.Condition("Shop tea", status.ConditionReady)
		assert.Equal(t, "ConfigError", ready.Reason)
		assert.Contains(t, ready.Message, "Bundle corp-cas: spec.target.configMap.key isn't set")
	})
}

func TestNotInstalled(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "shops.yaml")
	require.NoError(t, os.WriteFile(file, []byte(shopDefinition), 0o600))
	for reason, row := range map[string]struct {
		opts []tls.Option
		want string
	}{
		"the CA":           {nil, "certificates.cert-manager.io: isn't installed, so cert-manager can't be used: install cert-manager, or use tls.Own"},
		"the certificates": {[]tls.Option{tls.Issuer("ClusterIssuer", "corp")}, "certificates.cert-manager.io: isn't installed"},
	} {
		t.Run("tls 50: without the definitions of cert-manager, the error names the missing one and what to do: "+reason, func(t *testing.T) {
			t.Parallel()
			h := reconciletest.New(t, ordering(row.opts...), reconciletest.Definitions(file))
			h.Apply(newTea(nil))
			_, err := h.Reconcile("Shop tea")
			require.ErrorContains(t, err, row.want)
			h.Gone("ConfigMap tea-web")

			h.Apply(installed("certificates", "Certificate"), installed("issuers", "Issuer"))
			h.Advance(time.Hour)
			settle(h, newPlayer(t, h, "test"))
			h.Ready("Shop tea")
		})
	}
}

// installed returns a definition of cert-manager that the cluster serves.
func installed(plural, kind string) map[string]any {
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}
	return map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": map[string]any{"name": plural + ".cert-manager.io"},
		"spec": map[string]any{"group": "cert-manager.io", "scope": "Namespaced", "names": map[string]any{"kind": kind, "plural": plural},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}}, "schema": schema}}},
		"status": map[string]any{"conditions": []any{map[string]any{"type": "Established", "status": "True"}}}}
}

func TestCertManagerInADryRun(t *testing.T) {
	t.Parallel()
	t.Run("tls 57: a dry run renders the requests, and waits for nothing", func(t *testing.T) {
		t.Parallel()
		for _, opts := range [][]tls.Option{nil, {tls.Issuer("ClusterIssuer", "corp"), tls.TrustBundle("corp-cas")}} {
			h, _ := newOrdering(t, opts...)
			h.Apply(newTea(nil))
			rendered := map[string]string{}
			for _, r := range h.Render("Shop tea") {
				text, err := json.Marshal(r.Objects)
				require.NoError(t, err)
				rendered[r.Component] = string(text)
			}
			assert.Contains(t, rendered["tls"], `"secretName":"tea-web-cert"`)
			assert.Contains(t, rendered["web"], "tea-web-cert")
			assert.Equal(t, opts == nil, strings.Contains(rendered["tls-bundle"], "tea-cert-bundle"))
		}
	})
}

func TestPlanWithCertManager(t *testing.T) {
	t.Parallel()
	t.Run("tls 57: a plan of a settled resource has no changes", func(t *testing.T) {
		t.Parallel()
		h, p := newOrdering(t)
		h.Apply(newTea(nil))
		settle(h, p)
		manager, err := deploy.NewManager(h.Cluster())
		require.NoError(t, err)
		r, err := reconcile.New(ordering(), manager, reconcile.Clock(h.Now))
		require.NoError(t, err)
		for _, options := range [][]reconcile.PlanOption{nil, {reconcile.OpenGates()}} {
			plan, err := r.Plan(t.Context(), h.Get("Shop tea"), options...)
			require.NoError(t, err)
			require.NoError(t, plan.Err())
			assert.Len(t, plan.Components, 5)
			assert.False(t, plan.Changed(), "%v", plan)
		}
	})
}
