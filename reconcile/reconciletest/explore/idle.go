package explore

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// idle finds a write that changes nothing: it loads the API server, and tells of a comparison that always differs.
func idle(calls []reconciletest.Call) []fault {
	for _, call := range calls {
		if call.Action == deploy.Unchanged {
			return []fault{{"the operator sends a write that changes nothing", []string{call.String(), "sent as: " + string(call.Verb)}}}
		}
	}
	return nil
}
