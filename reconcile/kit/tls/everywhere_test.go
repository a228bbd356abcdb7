package tls_test

import (
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEverywhere(t *testing.T) {
	t.Parallel()
	t.Run("tls 34: a stage waits until the components that read certificates are ready, and goes on when they are", func(t *testing.T) {
		t.Parallel()
		for _, held := range []string{"web", "worker", "probe"} {
			h, events := newWorkshop(t)
			h.Hold("Deployment " + held)
			paint(h, "blue")
			h.Advance(0)
			annotate(h, secretCA, "operkit.dev/renew", "now")
			h.Advance(5 * time.Minute)
			assert.Empty(t, events.notes(tls.EventWaits), "a rollout takes some minutes")
			h.Advance(5 * time.Hour)
			assert.Equal(t, "Trusting", stage(t, h), held)
			notes := events.notes(tls.EventWaits)
			require.Len(t, notes, 1, held)
			assert.Contains(t, notes[0], "Secret tea-tls-ca: the replacement of the CA waits in the stage Trusting until all of these components are ready: web, worker, probe: ")
			h.Release()
			h.Advance(0)
			h.Ready("Shop tea")
			h.Advance(59 * time.Minute)
			assert.Equal(t, "Trusting", stage(t, h), "the wait began when all was ready")
			h.Hold("Deployment " + held)
			h.Advance(time.Minute)
			assert.Equal(t, "Reissuing", stage(t, h))
			h.Advance(5 * time.Hour)
			assert.Equal(t, "Reissuing", stage(t, h), "%s isn't restarted", held)
			assert.Len(t, events.notes(tls.EventWaits), 2)
			h.Restart()
			h.Release()
			h.Advance(59 * time.Minute)
			assert.Equal(t, "Reissuing", stage(t, h))
			h.Advance(time.Minute)
			assert.Equal(t, "Steady", stage(t, h))
			h.Ready("Shop tea")
			assert.Len(t, events.notes(tls.EventWaits), 2)
			assert.Empty(t, events.notes(tls.EventForced))
		}
	})
	for _, at := range []string{"Trusting", "Reissuing"} {
		t.Run("tls 34: while a stage waits, certificates that are due are renewed: "+at, func(t *testing.T) {
			t.Parallel()
			h, _ := newWorkshop(t)
			if at == "Trusting" {
				h.Hold("Deployment worker")
				paint(h, "blue")
			}
			h.Advance(0)
			annotate(h, secretCA, "operkit.dev/renew", "now")
			if at == "Reissuing" {
				h.Advance(0)
				h.Hold("Deployment worker")
				h.Advance(2 * time.Hour)
			}
			h.Advance(0)
			require.Equal(t, at, stage(t, h))
			issuer, before := certOf(t, h.Get(secretCA)), certOf(t, h.Get(secretWeb))
			h.Advance(300 * day)
			require.Equal(t, at, stage(t, h))
			after := certOf(t, h.Get(secretWeb))
			assert.NotEqual(t, before.SerialNumber, after.SerialNumber)
			require.NoError(t, after.CheckSignatureFrom(issuer))
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
			h.RunUntilSettled()
			h.Writes(0)
		})
	}
	t.Run("tls 35: a component that is never ready stops the replacement until a CA is near its end, and an event says so", func(t *testing.T) {
		t.Parallel()
		h, events := newWorkshop(t, tls.CALife(300*day), tls.Life(30*day))
		h.Hold("Deployment worker")
		paint(h, "blue")
		seen := []string{}
		for range 300 {
			h.Advance(day)
			if now := stage(t, h); len(seen) == 0 || seen[len(seen)-1] != now {
				seen = append(seen, now)
			}
			// Who reads the Secrets each day is never refused.
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		}
		assert.Equal(t, []string{"Steady", "Trusting", "Reissuing", "Steady"}, seen)
		notes := events.notes(tls.EventForced)
		require.Len(t, notes, 2)
		assert.Contains(t, notes[0], "Secret tea-tls-ca: the stage Trusting has ended without its wait, because a CA is near the end of its life: ")
		assert.Contains(t, notes[1], "the stage Reissuing has ended without its wait")
		assert.Len(t, events.notes(tls.EventWaits), 2)
	})
}
