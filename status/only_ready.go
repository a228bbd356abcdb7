package status

import (
	"cmp"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// readyAlone is the status that follows from the current one when it has the
// condition Ready, what others wrote, and nothing else.
func (a Application) readyAlone(now time.Time, current map[string]any) map[string]any {
	next := cloneMap(current)
	list := mapsOf(condition.ListOf(next))
	var own []metav1.Condition
	if ready, ok := a.settle(a.bothVerdicts(list).verdict(), list); ok {
		own = append(own, ready)
	}
	next[conditionsKey] = arrange(list, own, now)
	for _, key := range []string{componentStatusKey, observedGenerationKey, reconciledGenerationKey, operatorVersionKey} {
		delete(next, key)
	}
	removeVersions(next)
	return next
}

// bothVerdicts is what both verdicts come to in one condition.
//
// Ready says that a resource is well, or why not. Updating knows more of the
// why, and alone says so of a passing trouble; that is no news of a resource
// which is Ready at its present generation.
func (a Application) bothVerdicts(list []any) ReadyVerdict {
	both := a.Ready
	if both.Remove || a.Updating.Remove || a.Updating.Reason == "" || a.Updating.Reason == UpdatingStable {
		return both
	}
	both.Message = cmp.Or(a.Updating.Message, both.Message)
	if both.Reason != "" {
		return both
	}
	entry := condition.Find(list, ConditionReady)
	generation, _ := condition.Integer(entry[condition.ObservedGeneration])
	switch present := ReadyReason(condition.Text(entry, condition.Reason)); {
	case present == ReadyStable && generation == a.Generation:
		return ReadyVerdict{}
	case present == ReadyInitializing:
		both.Reason = ReadyInitializing
	default:
		both.Reason = ReadyInProgress
	}
	return both
}
