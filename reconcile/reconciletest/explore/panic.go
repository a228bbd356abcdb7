package explore

import (
	"errors"
	"slices"

	"github.com/operkit/operkit/reconcile/internal/mortal"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
)

// panics returns the panics of the reconciles that weren't judged yet. In a process that is being killed none counts.
func (w *witness) panics() (found []string) {
	runs := w.harness.Runs()
	for _, run := range runs[w.judged:] {
		killed := slices.ContainsFunc(run.Calls, func(call reconciletest.Call) bool { return errors.Is(call.Err, mortal.ErrKilled) })
		for _, panicked := range request.Panics(run.Err) {
			if !killed {
				found = append(found, refName(run.Key)+": "+panicked.Error())
			}
		}
	}
	w.judged = len(runs)
	return found
}
