package status_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/operkit/operkit/status"
)

func TestUpdateTransitionTime(t *testing.T) {
	t.Parallel()
	t.Run("status 28: transition time moves only with status, over three writes", func(t *testing.T) {
		t.Parallel()
		current, _ := update(t, own(status.ReadyInProgress, status.UpdatingVerifyWait), nil)
		for i, a := range []status.Application{
			own(status.ReadyErrored, status.UpdatingPreconditionWait),
			own(status.ReadyConfigError, status.UpdatingVersionChange),
			own(status.ReadyInitializing, status.UpdatingVerifyWait),
		} {
			next, changed, err := a.Update(now.Add(time.Duration(i+1)*time.Hour), current)
			require.NoError(t, err)
			require.True(t, changed)
			assert.Equal(t, nowText, entry(t, next, "Ready")["lastTransitionTime"])
			assert.Equal(t, nowText, entry(t, next, "Updating")["lastTransitionTime"])
			current = next
		}
		next, _, err := own(status.ReadyStable, status.UpdatingStable).Update(now.Add(9*time.Hour), current)
		require.NoError(t, err)
		assert.Equal(t, "2026-05-06T14:08:09Z", entry(t, next, "Ready")["lastTransitionTime"])
		assert.Equal(t, "2026-05-06T14:08:09Z", entry(t, next, "Updating")["lastTransitionTime"])
	})
	t.Run("status W1: an oper8 status is migrated on the next real change", func(t *testing.T) {
		t.Parallel()
		old := document(t, `{"conditions":[{"type":"Ready","status":"True","reason":"Stable","message":"r","lastTransactionTime":"2024-01-01T00:00:00.123456"},
			{"type":"Updating","status":"False","reason":"Stable","message":"u","lastTransactionTime":"2024-01-01T00:00:00.123456"}]}`)
		same, changed := update(t, own(status.ReadyStable, status.UpdatingStable), old)
		assert.False(t, changed)
		assert.Equal(t, old, same, "no change: what the cluster has")
		a := own(status.ReadyStable, status.UpdatingStable)
		a.Generation = 2
		next, changed := update(t, a, old)
		assert.True(t, changed)
		assert.Equal(t, object{"type": "Ready", "status": "True", "reason": "Stable", "message": "r", "lastTransitionTime": earlierText, "observedGeneration": int64(2)}, entry(t, next, "Ready"))
	})
	t.Run("status 28: a long message is shortened visibly, and once", func(t *testing.T) {
		t.Parallel()
		a := status.Application{Ready: status.ReadyVerdict{Reason: status.ReadyErrored, Message: strings.Repeat("x", 40000)}}
		next, _ := update(t, a, nil)
		message := entry(t, next, "Ready")["message"].(string)
		assert.Len(t, message, status.MaxMessageLength)
		assert.True(t, strings.HasSuffix(message, "... (truncated, 40000 bytes in all)"))
		assert.Equal(t, message, entry(t, next, "Stalled")["message"])
		_, changed := update(t, a, next)
		assert.False(t, changed)
	})
}

func TestUpdateGenerations(t *testing.T) {
	t.Parallel()
	generations := func(st object) []any {
		return []any{st["observedGeneration"], entry(t, st, "Ready")["observedGeneration"], entry(t, st, "Updating")["observedGeneration"], st["reconciledGeneration"]}
	}
	at := func(a status.Application, generation int64) status.Application {
		a.Generation = generation
		return a
	}
	stable, _ := update(t, at(own(status.ReadyStable, status.UpdatingStable), 1), nil)
	t.Run("status W5: a verdict carries its generation, the status too", func(t *testing.T) {
		t.Parallel()
		assert.Equal(t, []any{int64(1), int64(1), int64(1), int64(1)}, generations(stable))
	})
	t.Run("status 28: a kept condition keeps the generation it was observed at", func(t *testing.T) {
		t.Parallel()
		waits := status.Application{Updating: status.UpdatingVerdict{Reason: status.UpdatingPreconditionWait}}
		next, _ := update(t, at(waits, 2), stable)
		assert.Equal(t, []any{int64(2), int64(1), int64(2), int64(1)}, generations(next))
		assert.Equal(t, int64(2), entry(t, next, "Reconciling")["observedGeneration"])
	})
	t.Run("without any verdict the status stays at its generation", func(t *testing.T) {
		t.Parallel()
		next, changed := update(t, status.Application{Generation: 2}, stable)
		assert.False(t, changed)
		assert.Equal(t, []any{int64(1), int64(1), int64(1), int64(1)}, generations(next))
	})
	t.Run("only both Stable move the reconciled generation", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, at(own(status.ReadyInProgress, status.UpdatingVerifyWait), 2), stable)
		assert.Equal(t, []any{int64(2), int64(2), int64(2), int64(1)}, generations(next))
	})
	t.Run("no generation keeps the present ones", func(t *testing.T) {
		t.Parallel()
		next, _ := update(t, own(status.ReadyInProgress, status.UpdatingVerifyWait), stable)
		assert.Equal(t, []any{int64(1), int64(1), int64(1), int64(1)}, generations(next))
	})
	t.Run("a status decoded with float64 settles as well", func(t *testing.T) {
		t.Parallel()
		floats := document(t, text(t, stable))
		floats["observedGeneration"], floats["reconciledGeneration"] = 1.0, 1.0
		for _, conditionType := range []string{"Ready", "Updating"} {
			entry(t, floats, conditionType)["observedGeneration"] = 1.0
		}
		_, changed := update(t, at(own(status.ReadyStable, status.UpdatingStable), 1), floats)
		assert.False(t, changed)
	})
}

func TestUpdateSharesNothing(t *testing.T) {
	t.Parallel()
	current := document(t, `{"foo":{"bar":[{"a":1}]},"conditions":[{"type":"X","deep":{"a":1}}]}`)
	before := text(t, current)
	for _, a := range []status.Application{own(status.ReadyStable, ""), {}} {
		next, _ := update(t, a, current)
		next["foo"].(object)["bar"].([]any)[0].(object)["a"] = "changed"
		entry(t, next, "X")["deep"].(object)["a"] = "changed"
		require.Equal(t, before, text(t, current), "status W9: the result is the caller's own")
	}
}
