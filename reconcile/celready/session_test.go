package celready_test

import (
	"testing"

	"github.com/operkit/operkit/reconcile/celready"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func harness(t *testing.T) *reconciletest.Harness {
	t.Helper()
	server, err := celready.Compile(celready.Expressions{
		Ready:   "object.status.state in ['Ready', 'Allocated']",
		Failed:  "object.status.state in ['Error', 'Unhealthy'] || object.status.players > 10",
		Message: "'the server is ' + object.status.state",
	})
	require.NoError(t, err)
	h := reconciletest.New(t, Arcade{server})
	h.Apply(arcade)
	h.RunUntilSettled()
	return h
}

// What a Rule says is what the session does: it waits, goes on, or fails.
func TestSession(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason  string
		status  map[string]any
		ready   string // the reason of the condition Ready
		message string
		opened  bool
	}{
		{"a new server has no state", map[string]any{"address": "10.0.0.1"}, "Initializing", "game: GameServer pier-game: InProgress (object.status.state isn't there yet)", false},
		{"one that starts", map[string]any{"state": "Starting"}, "Initializing", "game: GameServer pier-game: InProgress (the server is Starting)", false},
		{"one that is ready", map[string]any{"state": "Ready"}, "Stable", "", true},
		{"one that has failed", map[string]any{"state": "Unhealthy"}, "Errored", "game: GameServer pier-game: Failed (the server is Unhealthy)", false},
		{
			"one that the expression isn't made for: that is an error", map[string]any{"state": "Ready", "players": "many"}, "Errored",
			"game: GameServer pier-game: Unknown (GameServer.agones.dev: the expression failed, 1:72: object.status.players > 10 can't be evaluated: no such overload)", false,
		},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			h := harness(t)
			h.SetStatus("GameServer pier-game", row.status)
			h.RunUntilSettled()
			ready := h.Condition("Arcade pier", "Ready")
			assert.Equal(t, row.ready, ready.Reason, ready.Message)
			assert.Contains(t, ready.Message, row.message)
			if row.opened {
				h.Exists("ConfigMap pier-door")
			} else {
				h.Gone("ConfigMap pier-door")
			}
		})
	}
}
