package explore

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// moved finds a time of a transition that moves though the condition stays.
func (w *witness) moved(calls []reconciletest.Call) []fault {
	for _, call := range calls {
		if !w.explores(call.Ref) {
			continue
		}
		for _, change := range call.Changes {
			condition, is := strings.CutSuffix(change.Path, ".lastTransitionTime")
			if is && change.Before != nil && change.After != nil && !turns(call.Changes, condition) {
				detail := difference{refName(call.Ref), change}.String()
				return []fault{{"a condition's lastTransitionTime moves though its status stays", []string{detail}}}
			}
		}
	}
	return nil
}

// turns reports whether the status of a condition changes, or another condition takes its place in the list.
func turns(changes []deploy.Change, condition string) bool {
	return slices.ContainsFunc(changes, func(change deploy.Change) bool {
		return change.Path == condition+".status" || change.Path == condition+".type"
	})
}
