package status

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// The types of the conditions that an Application owns.
const (
	// ConditionReady reports whether the application can take traffic.
	ConditionReady = "Ready"
	// ConditionUpdating reports whether a change is being applied.
	ConditionUpdating = "Updating"
	// ConditionReconciling means for kstatus that work is under way. It is absent otherwise.
	ConditionReconciling = "Reconciling"
	// ConditionStalled means for kstatus that there is no progress without help. It is absent otherwise.
	ConditionStalled = "Stalled"
)

// ReadyReason is why the application is ready or not. Only the constants below are valid. The empty string means that
// no reason is given.
type ReadyReason string

// The reasons of the Ready condition. Only ReadyStable makes it True.
const (
	ReadyStable       ReadyReason = "Stable"
	ReadyInitializing ReadyReason = "Initializing"
	ReadyInProgress   ReadyReason = "InProgress"
	ReadyConfigError  ReadyReason = "ConfigError"
	ReadyErrored      ReadyReason = "Errored"
)

// Status returns the status of a Ready condition with this reason. It returns Unknown for a reason that isn't one of
// the constants.
func (r ReadyReason) Status() metav1.ConditionStatus {
	switch r {
	case ReadyStable:
		return metav1.ConditionTrue
	case ReadyInitializing, ReadyInProgress, ReadyConfigError, ReadyErrored:
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

// UpdatingReason is why a change is or isn't being applied. Only the constants below are valid. The empty string means
// that no reason is given.
type UpdatingReason string

// The reasons of the Updating condition. PreconditionWait, VerifyWait and
// VersionChange make it True.
const (
	UpdatingStable           UpdatingReason = "Stable"
	UpdatingPreconditionWait UpdatingReason = "PreconditionWait"
	UpdatingVerifyWait       UpdatingReason = "VerifyWait"
	UpdatingVersionChange    UpdatingReason = "VersionChange"
	UpdatingClusterError     UpdatingReason = "ClusterError"
	UpdatingErrored          UpdatingReason = "Errored"
)

// Status returns the status of an Updating condition with this reason. It returns Unknown for a reason that isn't one
// of the constants.
func (r UpdatingReason) Status() metav1.ConditionStatus {
	switch r {
	case UpdatingPreconditionWait, UpdatingVerifyWait, UpdatingVersionChange:
		return metav1.ConditionTrue
	case UpdatingStable, UpdatingClusterError, UpdatingErrored:
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

func readyStatus(reason string) metav1.ConditionStatus {
	return ReadyReason(reason).Status()
}

func updatingStatus(reason string) metav1.ConditionStatus {
	return UpdatingReason(reason).Status()
}

// ReadyVerdict is the content for the Ready condition. The zero value keeps the present condition.
//
// Without a Reason the present reason stays. Without a Message, the present message stays if the reason stays, and is
// removed otherwise. Remove removes the condition, whatever else is given.
type ReadyVerdict struct {
	Reason  ReadyReason
	Message string
	Remove  bool
}

// UpdatingVerdict is the content for the Updating condition. The zero value keeps the present condition.
type UpdatingVerdict struct {
	// Reason, Message and Remove are as in ReadyVerdict.
	Reason  UpdatingReason
	Message string
	Remove  bool
}

// verdict is a ReadyVerdict or an UpdatingVerdict, with the type of its condition and the status of each reason.
type verdict struct {
	conditionType   string
	reason, message string
	remove          bool
	statusOf        func(reason string) metav1.ConditionStatus
}

func (v ReadyVerdict) verdict() verdict {
	return verdict{ConditionReady, string(v.Reason), v.Message, v.Remove, readyStatus}
}

func (v UpdatingVerdict) verdict() verdict {
	return verdict{ConditionUpdating, string(v.Reason), v.Message, v.Remove, updatingStatus}
}

// given reports whether the verdict isn't the zero value.
func (v verdict) given() bool {
	return v.reason != "" || v.message != "" || v.remove
}

func (v verdict) validate() error {
	if v.reason != "" && v.statusOf(v.reason) == metav1.ConditionUnknown {
		return fmt.Errorf("%s verdict: %w: unknown reason %.64q: use one of the constants", v.conditionType, errInvalidReason, v.reason)
	}
	return nil
}

// resolve applies a verdict to the present entry and returns the resulting condition, or false if there is no
// condition. A kept condition keeps its observed generation. An unknown present reason counts as absent.
func (v verdict) resolve(entry map[string]any, generation int64, warn func(string, ...any)) (metav1.Condition, bool) {
	c := metav1.Condition{Type: v.conditionType, Reason: v.reason, Message: v.message}
	present := condition.Text(entry, condition.Reason)
	if c.Reason == "" && !v.remove && present != "" && v.statusOf(present) == metav1.ConditionUnknown {
		warn("condition %s: unknown reason %.64q: the condition counts as absent", v.conditionType, present)
	} else if c.Reason == "" {
		c.Reason = present
	}
	if v.remove || c.Reason == "" {
		return metav1.Condition{}, false
	}
	if c.Message == "" && c.Reason == present {
		c.Message = condition.Text(entry, condition.Message)
	}
	c.Status = v.statusOf(c.Reason)
	c.ObservedGeneration = generation
	if generation == 0 || !v.given() {
		c.ObservedGeneration, _ = condition.Integer(entry[condition.ObservedGeneration])
	}
	return c, true
}
