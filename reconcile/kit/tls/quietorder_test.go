package tls_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNothingOfCertManagerIsShown(t *testing.T) {
	t.Parallel()
	t.Run("tls 58: no key that cert-manager has stored is in a log, an event, an error, a status or another object", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		events := &recorder{}
		logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug - 10}))
		h := reconciletest.New(t, ordering(), reconciletest.Events(events), reconciletest.With(reconcile.Period(24*time.Hour), reconcile.Logger(logger)))
		p := newPlayer(t, h, "test")
		h.Apply(newTea(nil))
		settle(h, p)
		keys := map[string]bool{}
		for _, secret := range []string{orderedCA, orderedWeb, orderedWorker} {
			key := dataOf(t, h.Get(secret))["tls.key"]
			keys[strings.Split(string(key), "\n")[1][40:60]] = true
			keys[base64.StdEncoding.EncodeToString(key)[60:100]] = true
		}
		whole := pair(t, h, orderedWeb)
		var all bytes.Buffer
		for _, damage := range []map[string][]byte{
			{"tls.crt": whole["tls.key"]}, {"tls.key": whole["tls.key"][:100]}, {"ca.crt": whole["tls.key"]}, {"tls.key": pair(t, h, orderedWorker)["tls.key"]},
		} {
			setData(t, h, orderedWeb, damage)
			h.RunUntilSettled()
			require.NoError(t, json.NewEncoder(&all).Encode(h.Get("Shop tea").Object))
			h.Restart()
			h.RunUntilSettled()
			whole["ca.crt"] = dataOf(t, h.Get(orderedCA))["tls.crt"]
			setData(t, h, orderedWeb, whole)
			h.RunUntilSettled()
			h.Ready("Shop tea")
		}
		all.Write(log.Bytes())
		for _, e := range events.events {
			all.WriteString(e.Note)
		}
		for _, run := range h.Runs() {
			fmt.Fprintln(&all, run.Err)
		}
		for _, object := range h.Objects("Shop tea") {
			require.NoError(t, json.NewEncoder(&all).Encode(h.Get(object).Object))
		}
		require.Contains(t, all.String(), "Secret tea-web-cert: ")
		for key := range keys {
			assert.NotContains(t, all.String(), key)
		}
		assert.NotContains(t, all.String(), "PRIVATE KEY")
	})
}

func TestKilledWhileOrdering(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls 59: killed at any write, the next process continues; the write arrives: %t", arrives), func(t *testing.T) {
			t.Parallel()
			story := func(kill int) (writes int) {
				h, p := newOrdering(t)
				h.Apply(newTea(nil))
				if kill > 0 {
					h.Kill(kill, arrives)
				}
				// Each run has its own list of calls.
				lives := func() {
					h.RunUntilSettled()
					for _, call := range h.Calls() {
						if call.Write() {
							writes++
						}
					}
				}
				for range 3 {
					lives()
					p.play()
				}
				lives()
				p.renew("tea-cert-ca")
				p.renew("tea-web-cert")
				lives()
				h.Ready("Shop tea")
				require.NoError(t, inOrder(t, h))
				h.RunUntilSettled()
				h.Writes(0)
				return writes
			}
			writes := story(0)
			require.GreaterOrEqual(t, writes, 12)
			for nth := 1; nth <= writes; nth++ {
				story(nth)
			}
			t.Logf("COUNT kills with cert-manager %d", writes)
		})
	}
}
