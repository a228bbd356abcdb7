package explore

import (
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/reconciletest"
)

// intruding is the problem of an operator that changes objects of others. The end of the life shows it once more.
const intruding = "the operator changes what belongs to others"

// intrusions finds a write that deletes an object of others, or changes a value that others have set in it. Objects of
// others are those that exist at the beginning. What the operator adds to them is no intrusion, and neither is a change
// of a status, a finalizer or an owner.
func (w *witness) intrusions(calls []reconciletest.Call) []fault {
	for _, call := range calls {
		name := refName(call.Ref)
		if w.trace.began[name] == nil || call.Err != nil || w.explores(call.Ref) {
			continue
		}
		if call.Verb == dryrun.VerbDelete {
			return []fault{{intruding, []string{name + ": it is deleted"}}}
		}
		for _, change := range call.Changes {
			if change.Before == nil {
				w.set[name+change.Path] = true
			} else if !w.hasSet(name+change.Path) && !shared(change) {
				return []fault{{intruding, []string{difference{name, change}.String()}}}
			}
		}
	}
	return nil
}

// hasSet reports whether the operator itself has set a field, or a map or list around it.
func (w *witness) hasSet(field string) bool {
	for at := len(field); at > 0; at = strings.LastIndexAny(field[:at], ".[") {
		if w.set[field[:at]] {
			return true
		}
	}
	return false
}

// shared reports whether a change is of a field to which everybody adds.
func shared(change deploy.Change) bool {
	for _, prefix := range []string{".status", ".metadata.finalizers", ".metadata.ownerReferences"} {
		if strings.HasPrefix(change.Path, prefix) {
			return true
		}
	}
	return isHash(change)
}

// isHash reports whether a change is of the annotation with the hash of the applied content.
func isHash(change deploy.Change) bool { return isApplied(change.Path) }
