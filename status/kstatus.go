package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// progress answers the condition by which kstatus tools judge the application:
// Stalled when an error needs someone's help, Reconciling while work is under
// way, none otherwise. It is never both: readers that stop at the first one they
// meet, and those that let Stalled win, come to the same answer.
//
// spec: status 27
func progress(ready, updating metav1.Condition) (metav1.Condition, bool) {
	switch ReadyReason(ready.Reason) {
	case ReadyErrored, ReadyConfigError:
		return marks(ConditionStalled, ready), true
	}
	switch UpdatingReason(updating.Reason) {
	case UpdatingErrored:
		return marks(ConditionStalled, updating), true
	case UpdatingPreconditionWait, UpdatingVerifyWait, UpdatingVersionChange, UpdatingClusterError:
		return marks(ConditionReconciling, updating), true
	}
	switch ReadyReason(ready.Reason) {
	case ReadyInitializing, ReadyInProgress:
		return marks(ConditionReconciling, ready), true
	}
	return metav1.Condition{}, false
}

// marks makes a True condition of a type that says what its cause says.
func marks(conditionType string, cause metav1.Condition) metav1.Condition {
	cause.Type = conditionType
	cause.Status = metav1.ConditionTrue
	return cause
}
