package reconciletest

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
)

func TestObserve(t *testing.T) {
	t.Parallel()
	var h *Harness
	var seen, second []string
	h = New(t, market(), Observe(nil), Observe(func(call Call) {
		seen = append(seen, call.String())
		if call.Action == deploy.Created {
			assert.NotNil(t, h.Get(call.Ref.Kind.Kind+" "+call.Ref.Name), "the cluster has it")
		}
	}), Observe(func(call Call) { second = append(second, call.String()) }))
	h.Apply(tea)
	h.RunUntilSettled()
	t.Run("harness 23: each request of the reconcilers is seen, and none of the test", func(t *testing.T) {
		var all []string
		for _, call := range h.Calls() {
			all = append(all, call.String())
		}
		assert.NotEmpty(t, seen)
		assert.Equal(t, all, seen)
		assert.Equal(t, seen, second)
	})
}
