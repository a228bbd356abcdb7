package tls_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/status"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pairs of another cluster, to be stored by hand.
func elsewhere(t *testing.T) *reconciletest.Harness {
	t.Helper()
	h, _ := newHarness(t)
	h.Apply(newTea(map[string]any{"names": []any{"more"}}))
	h.RunUntilSettled()
	return h
}

// pair returns the certificate and key of a Secret.
func pair(t *testing.T, h *reconciletest.Harness, secret string) map[string][]byte {
	t.Helper()
	data := dataOf(t, h.Get(secret))
	return map[string][]byte{"tls.crt": data["tls.crt"], "tls.key": data["tls.key"]}
}

func TestByHand(t *testing.T) {
	t.Parallel()
	t.Run("tls 17: a certificate stored by hand stays while it is valid for the names, and an event says once that its CA isn't trusted", func(t *testing.T) {
		t.Parallel()
		h, events := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWeb))
		byHand := certOf(t, h.Get(secretWeb))
		h.RunUntilSettled()
		h.RunUntilSettled()
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		assert.Equal(t, byHand.SerialNumber, certOf(t, h.Get(secretWeb)).SerialNumber)
		h.Ready("Shop tea")
		notes := events.notes(tls.EventForeign)
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0], "Secret tea-web-tls: the certificate was stored by hand and is kept")
		h.Advance(300 * day)
		assert.NotEqual(t, byHand.SerialNumber, certOf(t, h.Get(secretWeb)).SerialNumber, "it is renewed as all others")
	})
	t.Run("tls 18: one of the CA of the resource, such as from a backup, is replaced with the CA, and an event says so", func(t *testing.T) {
		t.Parallel()
		h, events := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.Edit(secretWeb, func(obj *unstructured.Unstructured) { obj.SetAnnotations(map[string]string{}) })
		before := certOf(t, h.Get(secretWeb))
		h.RunUntilSettled()
		require.Equal(t, before, certOf(t, h.Get(secretWeb)), "it stays while its CA issues")
		annotate(h, secretCA, "operkit.dev/renew", "now")
		for range 3 {
			h.Advance(hour)
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		}
		require.Equal(t, "Steady", stage(t, h))
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		notes := events.notes(tls.EventReplaced)
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0], "Secret tea-web-tls: replaced the certificate that the operator didn't issue: its CA is being replaced")
	})
	t.Run("tls 18: one that isn't valid for the names is replaced, and an event says so", func(t *testing.T) {
		t.Parallel()
		h, events := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		setData(t, h, secretWeb, pair(t, elsewhere(t), secretWorker))
		h.RunUntilSettled()
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		notes := events.notes(tls.EventReplaced)
		require.Len(t, notes, 1)
		assert.Contains(t, notes[0], "Secret tea-web-tls: replaced the certificate that the operator didn't issue: it isn't valid for web, web.test")
	})
	for reason, damage := range map[string]map[string][]byte{
		"no key":           {"tls.key": []byte("")},
		"no certificate":   {"tls.crt": []byte("")},
		"no PEM":           {"tls.crt": []byte("hello")},
		"a foreign bundle": {"ca.crt": []byte("hello")},
	} {
		t.Run("tls 18: a damaged one: "+reason, func(t *testing.T) {
			t.Parallel()
			h, _ := newHarness(t)
			h.Apply(newTea(nil))
			h.RunUntilSettled()
			setData(t, h, secretWeb, damage)
			h.RunUntilSettled()
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
			h.RunUntilSettled()
			h.Writes(0)
		})
	}
}

func TestDamagedCA(t *testing.T) {
	t.Parallel()
	other := elsewhere(t)
	for reason, row := range map[string]struct {
		damage map[string][]byte
		want   string
	}{
		"no key":                {map[string][]byte{"tls.key": []byte("")}, "tls.crt and tls.key: key: is missing"},
		"no certificate":        {map[string][]byte{"tls.crt": []byte("")}, "tls.crt and tls.key: certificate: is missing"},
		"the key of another CA": {map[string][]byte{"tls.key": dataOf(t, other.Get(secretCA))["tls.key"]}, "key: is not a private key of the certificate"},
		"a leaf":                {pair(t, other, secretWeb), "certificate: is not of a CA"},
		"a next CA, damaged":    {map[string][]byte{"next.crt": []byte("hello")}, "next.crt and next.key: certificate: is not PEM"},
	} {
		t.Run("tls 19: a damaged CA is reported, and never replaced: "+reason, func(t *testing.T) {
			t.Parallel()
			h, events := newHarness(t)
			h.Apply(newTea(nil))
			h.RunUntilSettled()
			whole := dataOf(t, h.Get(secretCA))
			setData(t, h, secretCA, row.damage)
			damaged := dataOf(t, h.Get(secretCA))
			leaf := dataOf(t, h.Get(secretWeb))
			h.RunUntilSettled()
			h.Restart()
			h.RunUntilSettled()
			ready := h.Condition("Shop tea", status.ConditionReady)
			assert.Equal(t, "ConfigError", ready.Reason)
			assert.Contains(t, ready.Message, "Secret tea-tls-ca: the CA is damaged, and isn't replaced, because programs trust it: ")
			assert.Contains(t, ready.Message, row.want)
			assert.NotEmpty(t, events.notes("Errored"))
			assert.Equal(t, damaged, dataOf(t, h.Get(secretCA)))
			assert.Equal(t, leaf, dataOf(t, h.Get(secretWeb)))

			whole["next.crt"] = nil
			setData(t, h, secretCA, whole)
			h.RunUntilSettled()
			h.Ready("Shop tea")
			assert.Equal(t, leaf, dataOf(t, h.Get(secretWeb)))
		})
	}
	t.Run("tls 20: a CA that was deleted is replaced, and all certificates with it", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		h.Delete(secretCA)
		h.RunUntilSettled()
		h.Created(secretCA)
		h.Configured(secretWeb, secretWorker, bundle)
		require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
	})
}
