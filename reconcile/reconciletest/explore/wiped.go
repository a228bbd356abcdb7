package explore

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// wiped finds a PersistentVolumeClaim that the operator deletes and creates again, though its resource stays.
func wiped(calls []reconciletest.Call) []fault {
	deleted := map[deploy.Ref]bool{}
	for _, call := range calls {
		switch {
		case call.Ref.Kind.Kind != "PersistentVolumeClaim":
		case call.Action == deploy.Removed:
			deleted[call.Ref] = true
		case call.Action == deploy.Created && deleted[call.Ref]:
			return []fault{{"data is lost", []string{refName(call.Ref) + ": it is deleted, and created anew without its data"}}}
		}
	}
	return nil
}
