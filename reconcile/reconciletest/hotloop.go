package reconciletest

import (
	"fmt"
	"strings"

	"github.com/operkit/operkit/deploy"
)

// shownChanges bounds the latest writes of an object that the report of a hot loop shows.
const shownChanges = 3

// stepsPerRun bounds how often the count of reconciles may start again in one run.
const stepsPerRun = 10

// checkHotLoop fails the test when a resource is reconciled again and again.
func (h *Harness) checkHotLoop(key deploy.Ref, t *turn) {
	h.t.Helper()
	if t.count < h.options.maxReconciles && t.total < stepsPerRun*h.options.maxReconciles {
		return
	}
	last := h.runs[len(h.runs)-1]
	outcome := fmt.Sprintf("again after %s", last.Result.RequeueAfter)
	if last.Err != nil {
		outcome = last.Err.Error()
	}
	h.t.Fatalf("reconciletest: hot loop: %s was reconciled %d times and hasn't settled (the last ended with: %s).%s", key, t.total, outcome, h.restless())
}

// restless describes the object that was changed most often, and its latest changes.
func (h *Harness) restless() string {
	counts := map[string]int{}
	most := ""
	calls := h.Calls()
	for _, call := range calls {
		if len(call.Changes) == 0 {
			continue
		}
		object := strings.TrimSpace(call.Ref.String() + " " + call.Subresource)
		if counts[object]++; most == "" || counts[object] > counts[most] {
			most = object
		}
	}
	if most == "" {
		return " No object was changed: the resource itself, or the results of its reconciles, caused the reconciles."
	}
	var latest []string
	for i := len(calls) - 1; i >= 0 && len(latest) < shownChanges; i-- {
		call := calls[i]
		if strings.TrimSpace(call.Ref.String()+" "+call.Subresource) != most || len(call.Changes) == 0 {
			continue
		}
		var lines strings.Builder
		for _, change := range h.withoutHash(call.Changes) {
			text := change.String()
			if call.Ref.Kind.Kind == "Secret" {
				text = change.Path + ": another value"
			}
			lines.WriteString("\n  " + text)
		}
		latest = append([]string{lines.String()}, latest...)
	}
	return fmt.Sprintf("\n%s was changed %d times; its latest changes:%s", most, counts[most], strings.Join(latest, "\n  then"))
}

// withoutHash drops the change of the annotation with the hash of the applied content, unless nothing else changed.
func (h *Harness) withoutHash(changes []deploy.Change) []deploy.Change {
	hash := ".metadata.annotations." + h.newManager().KeyDomain() + "/applied-"
	var kept []deploy.Change
	for _, change := range changes {
		if !strings.HasPrefix(change.Path, hash) {
			kept = append(kept, change)
		}
	}
	if len(kept) == 0 {
		return changes
	}
	return kept
}
