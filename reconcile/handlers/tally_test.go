package handlers_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/standing"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tallyOf returns the counts of a reconciler that hasn't seen an object.
func tallyOf(t *testing.T, h *handlers.Handlers[Claim]) standing.Tally {
	memory, err := dryrun.New(dryrun.AnyKind())
	require.NoError(t, err)
	manager, err := deploy.NewManager(memory)
	require.NoError(t, err)
	reconciler, err := h.Reconciler(t.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	require.NoError(t, err)
	provider, err := standing.Of(reconciler)
	require.NoError(t, err)
	return provider.Tally()
}

func TestTally(t *testing.T) {
	t.Run("handlers 95: an object whose handler waits doesn't count as failing", func(t *testing.T) {
		for _, row := range []struct {
			err  error
			want standing.Standing
		}{{request.Precondition("no disk is free"), standing.Waiting}, {errors.New("boom"), standing.Failing}, {nil, standing.Settled}} {
			var j journal
			c := handlers.New[Claim](claims)
			c.On(handlers.Create, "create", j.noting("create", row.err))
			l := newLife(t, func(*life) *handlers.Handlers[Claim] { return c }, io.Discard)
			l.start()
			l.create()
			l.reconcile()
			provider, err := standing.Of(l.process)
			require.NoError(t, err)
			assert.Equal(t, map[standing.Standing]int{row.want: 1}, provider.Tally().Resources)
		}
	})
	t.Run("handlers 52: daemons are counted for metrics", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		idle := func(ctx context.Context, _ *handlers.Request[Claim]) error { return nil }
		c.On(handlers.Create, "create", idle)
		assert.Nil(t, tallyOf(t, c).Daemons)
		c.Daemon("measure", idle)
		assert.Equal(t, map[string]int{"running": 0, "stopping": 0, "abandoned": 0}, tallyOf(t, c).Daemons)
	})
}
