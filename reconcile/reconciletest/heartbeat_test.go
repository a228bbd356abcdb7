package reconciletest

import (
	"context"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
)

func TestHeartbeat(t *testing.T) {
	t.Parallel()
	clock := func(call Call) bool { return call.Ref.Name == "clock" }
	ticking := func() *shop {
		n := 0
		return &shop{func(_ context.Context, s *reconcile.Session) error {
			n++
			s.Add("clock", settings("clock", map[string]any{"tick": fmt.Sprint(n)}))
			s.Add("door", settings("door", map[string]any{"steps": fmt.Sprint(min(n, 5))}))
			return nil
		}}
	}
	t.Run("harness 24: what an operator writes again and again on purpose doesn't keep it from settling", func(t *testing.T) {
		h := New(t, ticking(), Heartbeat(nil), Heartbeat(func(Call) bool { return false }), Heartbeat(clock))
		h.Apply(tea)
		h.RunUntilSettled()
		assert.Equal(t, "5", h.Get("ConfigMap door").Object["data"].(map[string]any)["steps"], "but everything else does")
		assert.Less(t, len(h.Runs()), 20)
		h.RunUntilSettled()
		h.Configured("ConfigMap clock")
	})
	t.Run("harness 24: other writes count", func(t *testing.T) {
		said := try(t, func(t *trial) {
			h := New(t, ticking(), Heartbeat(func(call Call) bool { return call.Ref.Name == "door" }))
			h.Apply(tea)
			h.RunUntilSettled()
		})
		assert.Contains(t, said, "ConfigMap test/clock was changed 100 times")
	})
}
