package reconciletest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
)

const milk = "{apiVersion: example.dev/v1, kind: Shop, metadata: {name: milk}, spec: {sign: open}}"

// overlapped creates tea, with a reconcile of milk that has something to do before a request. prepare is called before.
func overlapped(t *testing.T, nth int, prepare func(h *Harness)) (h *Harness, calls []string) {
	t.Helper()
	title := "old"
	h = New(t, &shop{func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", settings(s.Name()+"-door", map[string]any{"title": title}))
		return nil
	}}, Interleave(func([]Call) int { return 0 }))
	h.Apply(milk)
	h.RunUntilSettled()
	title = "new"
	h.Apply(tea)
	prepare(h)
	h.Overlap(nth, "Shop milk")
	h.Overlap(nth, "Shop tea") // nothing: the request is one of its own
	h.RunUntilSettled()
	return h, lines(h.Calls())
}

func TestOverlap(t *testing.T) {
	t.Run("harness 25: the other resource is reconciled before the request", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h, calls := overlapped(t, 1, func(*Harness) {})
			h.Ready("Shop tea", "Shop milk")
			milk, tea := slices.Index(calls, "configured ConfigMap test/milk-door"), slices.Index(calls, "created ConfigMap test/tea-door")
			assert.True(t, 0 <= milk && milk < tea, calls)
			for _, run := range h.Runs() {
				for _, call := range run.Calls {
					assert.Contains(t, call.Ref.Name, run.Key.Name, "each run has its own calls")
				}
			}
		})
	})
	t.Run("harness 25: a kill ends both", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h, _ := overlapped(t, 1, func(h *Harness) { h.Kill(1, false) })
			h.Ready("Shop tea", "Shop milk")
			failed := 0
			for _, run := range h.Runs() {
				if run.Err != nil {
					failed++
				}
			}
			assert.Equal(t, 2, failed)
		})
	})
	t.Run("harness 25: it needs an order", func(t *testing.T) {
		said := try(t, func(t *trial) { settled(t).Overlap(1, "Shop tea") })
		assert.Contains(t, said, "use the option Interleave")
	})
}
