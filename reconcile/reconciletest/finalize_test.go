package reconciletest

import (
	"context"
	"errors"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/stretchr/testify/assert"
)

// farewell is a shop that sells out before it closes, and says so then.
func farewell() *closing {
	return &closing{market(), func(_ context.Context, s *reconcile.Session) error {
		sale := s.Add("sale", workload("Deployment", "tea-sale"))
		s.Add("goodbye", settings("tea-goodbye", nil)).After(sale, reconcile.Ready)
		return nil
	}}
}

// Components that Finalize adds are rolled out under the harness as they are by the engine.
func TestFinalizeRollsOut(t *testing.T) {
	t.Parallel()
	h := New(t, farewell())
	h.Apply(tea)
	h.RunUntilSettled()
	h.Hold("Deployment tea-sale")
	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Created("Deployment tea-sale")
	h.Exists("Shop tea", "Deployment tea-store")
	assert.Contains(t, h.Condition("Shop tea", "Updating").Message, "goodbye waits for sale")
	rendered := h.Render("Shop tea")
	assert.Equal(t, []string{"goodbye", "sale"}, []string{rendered[0].Component, rendered[1].Component})

	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	h.Exists("Shop tea")

	fault := h.FailOnce("goodbye", Finalize, errors.New("hoarse"))
	h.Release("Deployment tea-sale")
	h.RunUntilSettled()
	h.Created("ConfigMap tea-goodbye")
	h.Gone("Shop tea", "Deployment tea-store", "Deployment tea-sale", "ConfigMap tea-goodbye")
	assert.Equal(t, 1, fault.Met())
}
