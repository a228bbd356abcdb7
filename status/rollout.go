package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// ErrorClass is the kind of error that ended a reconcile. The status depends on it.
type ErrorClass string

// The classes of errors.
const (
	// ErrorPrecondition: something is missing that the rollout needs to go on.
	ErrorPrecondition ErrorClass = "Precondition"
	// ErrorVerification: something isn't ready yet. Use it for every other expected error too.
	ErrorVerification ErrorClass = "Verification"
	// ErrorConfig: the custom resource or the configuration can't be used.
	ErrorConfig ErrorClass = "Config"
	// ErrorCluster: a read or write of the cluster failed.
	ErrorCluster ErrorClass = "Cluster"
	// ErrorRollout: the rollout failed. Use it for every other fatal error too.
	ErrorRollout ErrorClass = "Rollout"
	// ErrorUnknown: an error without a class. Values other than these constants have the same effect.
	ErrorUnknown ErrorClass = "Unknown"
)

// ForError returns the verdicts for an error that ends a reconcile. Each verdict with a reason has the message. A zero
// verdict keeps the condition and its message.
func ForError(class ErrorClass, message string) (ReadyVerdict, UpdatingVerdict) {
	switch class {
	case ErrorPrecondition:
		return ReadyVerdict{}, UpdatingVerdict{Reason: UpdatingPreconditionWait, Message: message}
	case ErrorVerification:
		return ReadyVerdict{}, UpdatingVerdict{Reason: UpdatingVerifyWait, Message: message}
	case ErrorCluster:
		return ReadyVerdict{}, UpdatingVerdict{Reason: UpdatingClusterError, Message: message}
	case ErrorConfig:
		return ReadyVerdict{Reason: ReadyConfigError, Message: message}, UpdatingVerdict{Reason: UpdatingErrored, Message: message}
	}
	return ReadyVerdict{Reason: ReadyErrored, Message: message}, UpdatingVerdict{Reason: UpdatingErrored, Message: message}
}

// ForStart returns the verdicts for the start of a reconcile. current is the present status. desired is the desired
// version, empty if the object names none. If the reconciled version differs from the desired one, the verdicts report
// a version change. Otherwise the present reason stays, or Ready is Initializing until the first success of this
// object. An object has succeeded once if its status has a reconciled version or a reconciledGeneration, or if Ready
// has the reason Stable or InProgress.
//
// If nothing changes, both verdicts are zero, so that the start of an ordinary reconcile keeps the status and its
// generations.
func ForStart(current map[string]any, desired string) (ReadyVerdict, UpdatingVerdict) {
	reconciled := ReconciledVersion(current)
	if desired != "" && reconciled != "" && desired != reconciled {
		message := fmt.Sprintf("Version Change Started: [%s] -> [%s]", reconciled, desired)
		return ReadyVerdict{Reason: ReadyInProgress, Message: message},
			UpdatingVerdict{Reason: UpdatingVersionChange, Message: message}
	}
	present := presentReady(current)
	switch {
	case present == ReadyInitializing:
		return ReadyVerdict{}, UpdatingVerdict{}
	case !succeededOnce(current, present):
		return ReadyVerdict{Reason: ReadyInitializing, Message: "Initial Rollout Started"}, UpdatingVerdict{}
	case present == "":
		return ReadyVerdict{Reason: ReadyInProgress, Message: verifyMessage}, UpdatingVerdict{}
	}
	return ReadyVerdict{}, UpdatingVerdict{}
}

// ForEnd returns the verdicts for a reconcile that ended without an error: both Stable when everything is verified.
// Otherwise Ready is InProgress, or still Initializing if that is the present reason, and Updating is VerifyWait. Set
// Application.Version, the reconciled version, only if everything is verified.
func ForEnd(current map[string]any, verified bool) (ReadyVerdict, UpdatingVerdict) {
	if verified {
		return ReadyVerdict{Reason: ReadyStable, Message: "Verify Complete"},
			UpdatingVerdict{Reason: UpdatingStable, Message: "Rollout Complete"}
	}
	updating := UpdatingVerdict{Reason: UpdatingVerifyWait, Message: "Component verification incomplete"}
	if presentReady(current) == ReadyInitializing {
		return ReadyVerdict{Reason: ReadyInitializing}, updating
	}
	return ReadyVerdict{Reason: ReadyInProgress, Message: verifyMessage}, updating
}

const verifyMessage = "Verify InProgress"

// presentReady returns the reason of the present Ready condition, empty if there is no condition or its reason isn't
// one of the constants.
func presentReady(current map[string]any) ReadyReason {
	entry := condition.Find(condition.ListOf(current), ConditionReady)
	reason := ReadyReason(condition.Text(entry, condition.Reason))
	if reason.Status() == metav1.ConditionUnknown {
		return ""
	}
	return reason
}

// succeededOnce reports whether this object was ever reconciled successfully. InProgress shows a success too: before
// the first success, the reason stays Initializing.
func succeededOnce(current map[string]any, present ReadyReason) bool {
	if present == ReadyStable || present == ReadyInProgress || ReconciledVersion(current) != "" {
		return true
	}
	_, marked := condition.Integer(current[reconciledGenerationKey])
	return marked
}

// progress returns the condition by which kstatus tools judge the application: Stalled if an error needs help,
// Reconciling while work is under way, none otherwise. It never returns both. So tools that use the first of the two
// conditions, and tools that prefer Stalled, come to the same result.
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

// marks returns a True condition of a type, with the reason and the message of cause.
func marks(conditionType string, cause metav1.Condition) metav1.Condition {
	cause.Type = conditionType
	cause.Status = metav1.ConditionTrue
	return cause
}
