package reconciletest_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// A controller may write something in each reconcile on purpose.
func ExampleHeartbeat() {
	n := 0
	alive := reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		n++
		s.Add("pulse", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "pulse"}, "data": map[string]any{"beat": fmt.Sprint(n)},
		})
		return nil
	})
	h := reconciletest.New(console{}, alive, reconciletest.Heartbeat(func(call reconciletest.Call) bool { return call.Ref.Name == "pulse" }))
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	h.RunUntilSettled()
	h.Created("ConfigMap pulse")
	fmt.Println("settled:", len(h.Runs()) < 5)
	// Output: settled: true
}
