package dag_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/dag"
)

// TestProperties runs random graphs with random outcomes.
func TestProperties(t *testing.T) {
	t.Parallel()
	for name, n := range concurrencies {
		t.Run("dag 17, dag 21, dag 26: who is started is what the rules say, "+name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(400) {
				r := rand.New(rand.NewPCG(seed, uint64(n)))
				s := newScenario(t, r.IntN, n > 0)
				for range 2 {
					s.checkOutcome(t, s.run(t.Context(), t, dag.Concurrency(n), dag.PollInterval(time.Millisecond)))
				}
			}
		})
		t.Run("dag 22, dag 26: cut short anywhere, what is true of a run stays true, "+name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(300) {
				r := rand.New(rand.NewPCG(seed, uint64(n)+100))
				s := newScenario(t, r.IntN, n > 0)
				ctx, cancel := context.WithCancel(t.Context())
				s.countdown, s.cancel = 1+r.IntN(8), cancel
				s.run(ctx, t, dag.Concurrency(n), dag.PollInterval(time.Millisecond))
				cancel()
			}
		})
	}
	t.Run("dag 28: inline and one worker start the same nodes in the same order", func(t *testing.T) {
		t.Parallel()
		for seed := range uint64(200) {
			r := rand.New(rand.NewPCG(seed, 77))
			s := newScenario(t, r.IntN, false)
			s.run(t.Context(), t, dag.Concurrency(0))
			inline := s.started
			s.run(t.Context(), t, dag.Concurrency(1), dag.PollInterval(time.Hour))
			require.Equal(t, inline, s.started)
		}
	})
}
