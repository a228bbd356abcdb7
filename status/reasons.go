package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of the conditions that an Application owns.
const (
	// ConditionReady tells whether the application can take traffic.
	ConditionReady = "Ready"
	// ConditionUpdating tells whether a change is being applied.
	ConditionUpdating = "Updating"
	// ConditionReconciling is kstatus' "work is under way"; absent when not.
	ConditionReconciling = "Reconciling"
	// ConditionStalled is kstatus' "no progress without help"; absent when not.
	ConditionStalled = "Stalled"
)

// ReadyReason says why the application is ready or not. The set is closed; the
// empty reason means that none is given.
//
// spec: status 1, 2
type ReadyReason string

// The reasons of the Ready condition. Only ReadyStable makes it True.
const (
	ReadyStable       ReadyReason = "Stable"
	ReadyInitializing ReadyReason = "Initializing"
	ReadyInProgress   ReadyReason = "InProgress"
	ReadyConfigError  ReadyReason = "ConfigError"
	ReadyErrored      ReadyReason = "Errored"
)

// Status answers the status that the Ready condition has with this reason,
// Unknown for one that is none of the constants.
func (r ReadyReason) Status() metav1.ConditionStatus {
	switch r {
	case ReadyStable:
		return metav1.ConditionTrue
	case ReadyInitializing, ReadyInProgress, ReadyConfigError, ReadyErrored:
		return metav1.ConditionFalse
	}
	return metav1.ConditionUnknown
}

// UpdatingReason says why a change is or isn't being applied. The set is
// closed; the empty reason means that none is given.
//
// spec: status 1, 2
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

// Status answers the status that the Updating condition has with this reason,
// Unknown for one that is none of the constants.
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
