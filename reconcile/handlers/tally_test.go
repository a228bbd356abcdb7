package handlers_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/handlers"
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
	t.Run("handlers 52: daemons are counted for metrics", func(t *testing.T) {
		c := handlers.New[Claim](claims)
		idle := func(ctx context.Context, _ *handlers.Request[Claim]) error { return nil }
		c.On(handlers.Create, "create", idle)
		assert.Nil(t, tallyOf(t, c).Daemons)
		c.Daemon("measure", idle)
		assert.Equal(t, map[string]int{"running": 0, "stopping": 0, "abandoned": 0}, tallyOf(t, c).Daemons)
	})
}
