package reconcile

import (
	"cmp"
	"time"

	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// OnlyReady has the status of resources carry the condition Ready and nothing else, for kinds whose schema has no more, or of
// which nobody reads more: with each write of a resource a smaller status costs an API server less. Its message tells
// what Updating would: what a resource that isn't Ready waits for, and why. While it is Ready at its present generation, what goes wrong
// beside that, such as a cluster that refuses a request, is in the log alone.
//
// What is decided by the rest stays unknown then: how far each component is, the version that a resource was last
// brought to, and the kinds of objects that it once had (see Prunes). What an earlier release wrote of that is taken off. A pause is told all the same.
func OnlyReady() Option { return func(o *options) { o.onlyReady = true } }

// writesMore tells whether options ask for parts of the status that OnlyReady leaves out.
func (o *options) writesMore() bool {
	return o.serviceStatus || o.graphInStatus || o.ownAnywhere || o.supported != nil || o.operatorVersion != ""
}

// beside are the keys of an application's status beside its conditions.
var beside = []string{"componentStatus", "observedGeneration", "reconciledGeneration"}

// withReady is the present status with what an application comes to in one condition, and whether that is another one; present
// isn't changed.
func withReady(now time.Time, present map[string]any, a status.Application) (next map[string]any, changed bool, err error) {
	next = runtime.DeepCopyJSON(present)
	for _, key := range beside {
		_, there := next[key]
		delete(next, key)
		changed = changed || there
	}
	resource := map[string]any{"status": next}
	conditions := status.Conditions(resource)
	for _, rest := range []string{status.ConditionUpdating, status.ConditionReconciling, status.ConditionStalled} {
		changed = conditions.Remove(rest) || changed
	}
	ready, _ := conditions.Get(status.ConditionReady)
	if c, ok := readyCondition(ready, a); ok {
		changed = conditions.Set(now, c) || changed
	}
	next, _ = resource["status"].(map[string]any)
	return next, changed, conditions.Err()
}

// readyCondition is what both verdicts of an application come to, given the present condition; false if nothing new is
// to be said.
func readyCondition(present metav1.Condition, a status.Application) (metav1.Condition, bool) {
	reason, message := a.Ready.Reason, a.Ready.Message
	if told := a.Updating.Reason; told != "" && told != status.UpdatingStable {
		message = cmp.Or(a.Updating.Message, message)
		switch {
		case reason != "":
		case present.Status == metav1.ConditionTrue && present.ObservedGeneration == a.Generation:
			return metav1.Condition{}, false
		case present.Reason == string(status.ReadyInitializing):
			reason = status.ReadyInitializing
		default:
			reason = status.ReadyInProgress
		}
	}
	return metav1.Condition{
		Type: status.ConditionReady, Status: reason.Status(), Reason: string(reason), Message: message, ObservedGeneration: a.Generation,
	}, reason != ""
}
