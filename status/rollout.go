package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// ErrorClass is the kind of error that ended a reconcile, as far as the status
// makes a difference.
type ErrorClass string

// The classes of errors.
const (
	// ErrorPrecondition: something has to be there before the rollout may go on.
	ErrorPrecondition ErrorClass = "Precondition"
	// ErrorVerification: something isn't ready yet; also every other expected
	// error.
	ErrorVerification ErrorClass = "Verification"
	// ErrorConfig: the custom resource or the configuration can't be used.
	ErrorConfig ErrorClass = "Config"
	// ErrorCluster: the cluster couldn't be read or written.
	ErrorCluster ErrorClass = "Cluster"
	// ErrorRollout: the rollout failed; also every other fatal error.
	ErrorRollout ErrorClass = "Rollout"
	// ErrorUnknown: an error without a class. Other values mean the same.
	ErrorUnknown ErrorClass = "Unknown"
)

// ForError returns the verdicts for an error that ends a reconcile. The message
// goes into each condition that is written; a kept one keeps its own.
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

// ForStart returns the verdicts for the start of a reconcile, given the present
// status and the desired version (empty: the object names none). A reconciled
// version other than the desired one is a version change. Otherwise the present
// reason stays, or is Initializing until the first success of this object,
// which is known by a reconciled version, by the reconciledGeneration that
// Application writes, or by a present reason that only comes after a success.
//
// Nothing is given when nothing is new, so that the start of an ordinary
// reconcile leaves the status, and the generations in it, as they are.
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

// presentReady returns the reason of the present Ready condition, empty when
// there is none or it isn't known.
func presentReady(current map[string]any) ReadyReason {
	entry := condition.Find(condition.ListOf(current), ConditionReady)
	reason := ReadyReason(condition.Text(entry, condition.Reason))
	if reason.Status() == metav1.ConditionUnknown {
		return ""
	}
	return reason
}

// succeededOnce reports whether this object was ever reconciled successfully.
// InProgress counts, since before the first success Initializing is kept.
func succeededOnce(current map[string]any, present ReadyReason) bool {
	if present == ReadyStable || present == ReadyInProgress || ReconciledVersion(current) != "" {
		return true
	}
	_, marked := condition.Integer(current[reconciledGenerationKey])
	return marked
}

// progress returns the condition by which kstatus tools judge the application: Stalled when an error needs someone's
// help, Reconciling while work is under way, none otherwise. It is never both, so that readers that stop at the first
// one and those that let Stalled win come to the same result.
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

// marks makes a True condition of a type with the reason and message of its cause.
func marks(conditionType string, cause metav1.Condition) metav1.Condition {
	cause.Type = conditionType
	cause.Status = metav1.ConditionTrue
	return cause
}
