package tls_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/reconcile/kit/tls"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stage is the stage of the replacement of a CA, by the keys of its Secret.
func stage(t require.TestingT, h *reconciletest.Harness) string {
	switch data := dataOf(t, h.Get(secretCA)); {
	case data["next.crt"] != nil:
		return "Trusting"
	case data["previous.crt"] != nil:
		return "Reissuing"
	}
	return "Steady"
}

func TestRoll(t *testing.T) {
	t.Parallel()
	t.Run("tls 21: an annotation begins the replacement of the CA, which takes its stages without another event", func(t *testing.T) {
		t.Parallel()
		h, events := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		oldCA, oldLeaf := dataOf(t, h.Get(secretCA)), certOf(t, h.Get(secretWeb))
		annotate(h, secretCA, "operkit.dev/renew", "now")
		h.Advance(0)
		assert.Equal(t, "Trusting", stage(t, h))
		assert.Equal(t, oldLeaf, certOf(t, h.Get(secretWeb)), "the leaf stays")
		both := string(dataOf(t, h.Get(secretWeb))["ca.crt"])
		assert.Contains(t, both, string(oldCA["ca.crt"]))
		assert.Greater(t, len(both), len(oldCA["ca.crt"]))
		h.Advance(59 * time.Minute)
		assert.Equal(t, "Trusting", stage(t, h))
		h.Advance(time.Minute)
		assert.Equal(t, "Reissuing", stage(t, h))
		assert.NotEqual(t, oldLeaf, certOf(t, h.Get(secretWeb)))
		assert.Contains(t, string(dataOf(t, h.Get(secretWeb))["ca.crt"]), string(oldCA["ca.crt"]))
		for key, value := range dataOf(t, h.Get(secretCA)) {
			assert.NotEqual(t, string(oldCA["tls.key"]), string(value), "the key of the old CA is gone: %s", key)
		}
		h.Advance(time.Hour)
		assert.Equal(t, "Steady", stage(t, h))
		assert.NotContains(t, string(dataOf(t, h.Get(secretWeb))["ca.crt"]), string(oldCA["ca.crt"]))
		h.Ready("Shop tea")
		assert.Len(t, events.notes(tls.EventStage), 3)
		h.RunUntilSettled()
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
		assert.Equal(t, "Steady", stage(t, h), "once for each value")
	})
	t.Run("tls 21: a CA is replaced when two thirds of its life have passed", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t, tls.CALife(300*day), tls.Life(30*day))
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		before := certOf(t, h.Get(secretCA))
		h.Advance(199 * day)
		assert.Equal(t, before, certOf(t, h.Get(secretCA)))
		h.Advance(2 * day)
		assert.NotEqual(t, before, certOf(t, h.Get(secretCA)))
		assert.Equal(t, "Steady", stage(t, h))
	})
	for left, after := range map[string][]time.Duration{"Steady": nil, "Trusting": {0}, "Reissuing": {0, 90 * time.Minute}} {
		t.Run("tls 22: an operator that was away for longer than a CA lives puts all in order: it left in the stage "+left, func(t *testing.T) {
			t.Parallel()
			h, events := newHarness(t, tls.CALife(60*day), tls.Life(20*day))
			h.Apply(newTea(nil))
			h.RunUntilSettled()
			if left != "Steady" {
				annotate(h, secretCA, "operkit.dev/renew", "now")
			}
			for _, d := range after {
				h.Advance(d)
			}
			require.Equal(t, left, stage(t, h))
			h.Leave("Shop tea")
			h.Advance(400 * day)
			h.Enter("Shop tea")
			h.Advance(day)
			h.Ready("Shop tea")
			assert.Equal(t, "Steady", stage(t, h))
			assert.Empty(t, events.notes("Errored"))
			require.NoError(t, handshake(load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker)), "web", h.Now()))
		})
	}
}

// A kill at each write of a first rollout and of a whole replacement, before it reaches the cluster and after.
func TestKilledAtEachWrite(t *testing.T) {
	t.Parallel()
	for _, arrives := range []bool{false, true} {
		t.Run(fmt.Sprintf("tls 23: killed at any write, the next process continues; the write arrives: %t", arrives), func(t *testing.T) {
			t.Parallel()
			undisturbed, _ := newHarness(t)
			undisturbed.Apply(newTea(nil))
			writes := story(t, undisturbed)
			require.GreaterOrEqual(t, writes, 15)
			for nth := 1; nth <= writes; nth++ {
				h, _ := newHarness(t)
				h.Apply(newTea(nil))
				h.Kill(nth, arrives)
				story(t, h)
			}
			t.Logf("COUNT kills %d", writes)
		})
	}
}

// story is the life of a shop: a first rollout, then the replacement of its CA. Programs that read their Secrets
// within the wait trust each other at any time. It returns the number of the operator's writes.
func story(t *testing.T, h *reconciletest.Harness) (writes int) {
	lives := func(d time.Duration) {
		h.Advance(d)
		for _, call := range h.Calls() {
			if call.Write() {
				writes++
			}
		}
	}
	lives(0)
	h.Ready("Shop tea")
	first := certOf(t, h.Get(secretCA))
	server, client := load(t, h.Get(secretWeb)), load(t, h.Get(secretWorker))
	annotate(h, secretCA, "operkit.dev/renew", "now")
	for step := range 8 {
		lives(30 * time.Minute)
		if step%2 == 0 { // the programs read their Secrets in turn, each once in an hour
			server = load(t, h.Get(secretWeb))
		} else {
			client = load(t, h.Get(secretWorker))
		}
		require.NoError(t, handshake(server, client, "web", h.Now()), "step %d", step)
	}
	assert.Equal(t, "Steady", stage(t, h))
	assert.NotEqual(t, first, certOf(t, h.Get(secretCA)))
	h.Ready("Shop tea")
	return writes
}

// Handshakes while the CA is replaced, by programs that read their Secrets with different delays: 10000 in full, and
// 1000 by default.
func TestRollUnderLoad(t *testing.T) {
	t.Parallel()
	t.Run("tls 24: no handshake fails while the CA is replaced", func(t *testing.T) {
		t.Parallel()
		h, _ := newHarness(t)
		h.Apply(newTea(nil))
		h.RunUntilSettled()
		random := rand.New(rand.NewPCG(1, 2))
		secrets := []string{secretWeb, secretWorker, secretWeb, secretWorker}
		programs, readAt := make([]*program, len(secrets)), make([]time.Time, len(secrets))
		annotate(h, secretCA, "operkit.dev/renew", "now")
		stages := map[string]int{}
		const steps = 40
		each := 25
		if os.Getenv("OPERKIT_SOAK") != "" {
			each = 250
		}
		for range steps {
			h.Advance(5 * time.Minute)
			stages[stage(t, h)]++
			for i, secret := range secrets {
				// At the latest after 55 minutes, which is within the wait.
				if programs[i] == nil || h.Now().Sub(readAt[i]) >= 55*time.Minute || random.IntN(8) == 0 {
					programs[i], readAt[i] = load(t, h.Get(secret)), h.Now()
				}
			}
			now := h.Now()
			var failed error
			var once sync.Mutex
			var group sync.WaitGroup
			for worker := range 2 {
				group.Go(func() {
					for n := worker; n < each; n += 2 {
						if err := handshake(programs[2*(n/2%2)], programs[1+2*(n%2)], "web", now); err != nil {
							once.Lock()
							failed = err
							once.Unlock()
						}
					}
				})
			}
			group.Wait()
			require.NoError(t, failed, "stage %s", stage(t, h))
		}
		assert.Len(t, stages, 3)
		assert.Equal(t, "Steady", stage(t, h))
		t.Logf("COUNT handshakes %d, failed 0", steps*each)
	})
}
