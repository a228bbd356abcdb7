package readiness_test

import (
	"testing"

	"github.com/operkit/operkit/status/readiness"
)

func TestDeployment(t *testing.T) {
	const (
		full     = `"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`
		three    = `{"replicas":3,"progressDeadlineSeconds":600}`
		deadline = "ProgressDeadlineExceeded"
	)
	available, done := is("Available", "True", "MinimumReplicasAvailable"), is("Progressing", "True", "NewReplicaSetAvailable")
	refused := is("ReplicaFailure", "True", "FailedCreate")
	run(t, "apps/v1", "Deployment", []cell{
		{name: "status 25: deadline exceeded", spec: three, status: conditions(full, available, is("Progressing", "False", deadline)), state: readiness.Failed, reason: deadline},
		{name: "status 25: deadline exceeded, whatever the status of the condition", spec: three, status: conditions(full, available, is("Progressing", "Unknown", deadline)), state: readiness.Failed, reason: deadline},
		{name: "status 25: deadline exceeded needs no observed generation", spec: three, status: conditions("", is("Progressing", "False", deadline)), state: readiness.Failed, reason: deadline},
		{name: "status 25: replicas refused, no Progressing", spec: three, status: conditions(`"observedGeneration":1,"replicas":3`, refused), state: readiness.Failed, reason: "FailedCreate"},
		{name: "status 25: replicas refused, Progressing False", spec: three, status: conditions(`"observedGeneration":1`, refused, is("Progressing", "False", "X")), state: readiness.Failed, reason: "FailedCreate"},
		{name: "status 25: replicas refused, still progressing", spec: three, status: conditions(`"observedGeneration":1`, refused, is("Progressing", "True", "ReplicaSetUpdated")), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: replicas refused, Progressing Unknown", spec: three, status: conditions(`"observedGeneration":1`, refused, is("Progressing", "Unknown", "X")), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: replicas refused once, all updated now", spec: three, status: conditions(full, available, refused, is("Progressing", "False", "X")), state: readiness.InProgress, reason: "X"},
		{name: "status 25: no refusal", spec: three, status: conditions(`"observedGeneration":1`, is("ReplicaFailure", "False", "X")), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: no observed generation", spec: three, status: conditions(`"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`, available, done), state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: no status", state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: too few replicas", spec: three, status: conditions(`"observedGeneration":1,"replicas":2,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`, available, done), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: too few updated", spec: three, status: conditions(`"observedGeneration":1,"replicas":3,"updatedReplicas":2,"readyReplicas":3,"availableReplicas":3`, available, done), state: readiness.InProgress, reason: "LessUpdated"},
		{name: "status 25: too few ready", spec: three, status: conditions(`"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":2,"availableReplicas":3`, available, done), state: readiness.InProgress, reason: "LessReady"},
		{name: "status 25: updated ones not available", spec: three, status: conditions(`"observedGeneration":1,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":2`, available, done), state: readiness.InProgress, reason: "LessAvailable"},
		{name: "status 25: old replicas left", spec: three, status: conditions(`"observedGeneration":1,"replicas":4,"updatedReplicas":3,"readyReplicas":4,"availableReplicas":4`, available, done), state: readiness.InProgress, reason: "ExtraReplicas"},
		{name: "status 25: not available", spec: three, status: conditions(full, is("Available", "False", "MinimumReplicasUnavailable"), done), state: readiness.InProgress, reason: "MinimumReplicasUnavailable"},
		{name: "status 25: Available absent", spec: three, status: conditions(full, done), state: readiness.InProgress, reason: "NotAvailable"},
		{name: "status 24: Available of an older generation", metadata: second, spec: three, status: conditions(`"observedGeneration":2,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`, old("Available", "A"), done), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 25: still progressing", spec: three, status: conditions(full, available, is("Progressing", "True", "ReplicaSetUpdated")), state: readiness.InProgress, reason: "ReplicaSetUpdated"},
		{name: "status 25: Progressing absent", spec: three, status: conditions(full, available), state: readiness.InProgress, reason: "NotProgressed"},
		{name: "status 25: Progressing not True", spec: three, status: conditions(full, available, is("Progressing", "Unknown", "NewReplicaSetAvailable")), state: readiness.InProgress, reason: "NewReplicaSetAvailable"},
		{name: "status 24: Progressing of an older generation", metadata: second, spec: three, status: conditions(`"observedGeneration":2,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`, available, old("Progressing", "NewReplicaSetAvailable")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 25: complete", spec: three, status: conditions(full, available, done), state: readiness.Ready, reason: "Available"},
		{name: "status W14: no progress deadline", spec: `{"replicas":3}`, status: conditions(full, available), state: readiness.Ready, reason: "Available"},
		{name: "status W14: the longest deadline is none", spec: `{"replicas":3,"progressDeadlineSeconds":2147483647}`, status: conditions(full, available, is("Progressing", "True", "ReplicaSetUpdated")), state: readiness.Ready, reason: "Available"},
		{name: "status 25: replicas default to 1, reached", status: conditions(`"observedGeneration":1,"replicas":1,"updatedReplicas":1,"readyReplicas":1,"availableReplicas":1`, available), state: readiness.Ready, reason: "Available"},
		{name: "status 25: replicas default to 1, not reached", status: conditions(`"observedGeneration":1`, available), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: null replicas are the default", spec: `{"replicas":null}`, status: conditions(`"observedGeneration":1`, available), state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: zero replicas, missing counts are 0", spec: `{"replicas":0,"progressDeadlineSeconds":600}`, status: conditions(`"observedGeneration":1`, available, done), state: readiness.Ready, reason: "Available"},
		{name: "status 25: zero replicas, conditions count", spec: `{"replicas":0,"progressDeadlineSeconds":600}`, status: conditions(`"observedGeneration":1`, done), state: readiness.InProgress, reason: "NotAvailable"},
		{name: "status 25: zero replicas, some are left", spec: `{"replicas":0}`, status: conditions(`"observedGeneration":1,"replicas":1,"readyReplicas":1`, available), state: readiness.InProgress, reason: "ExtraReplicas"},
		{name: "status 25: paused, counts reached", spec: `{"replicas":3,"paused":true,"progressDeadlineSeconds":600}`, status: `{` + full + `}`, state: readiness.Ready, reason: "Paused"},
		{name: "status 25: paused, its conditions aren't looked at", spec: `{"replicas":3,"paused":true,"progressDeadlineSeconds":600}`, status: conditions(full, is("Progressing", "False", deadline), refused, is("Available", "False", "X")), state: readiness.Ready, reason: "Paused"},
		{name: "status 25: paused, counts missing", spec: `{"replicas":3,"paused":true}`, status: conditions(`"observedGeneration":1,"replicas":3,"updatedReplicas":1,"readyReplicas":3`, refused), state: readiness.InProgress, reason: "LessUpdated"},
		{name: "status 25: paused, not observed", spec: `{"replicas":3,"paused":true}`, state: readiness.InProgress, reason: "ObservedGenerationMissing"},
	})
}

func TestStatefulSet(t *testing.T) {
	const (
		full     = `"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3,"availableReplicas":3,"currentRevision":"a","updateRevision":"a"`
		onDelete = `"updateStrategy":{"type":"OnDelete"}`
	)
	run(t, "apps/v1", "StatefulSet", []cell{
		{name: "status 25: no status", state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: no observed generation", spec: `{"replicas":3}`, status: `{"replicas":3,"readyReplicas":3,"updatedReplicas":3}`, state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: too few replicas", spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":2,"readyReplicas":3,"updatedReplicas":3}`, state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: too few ready", spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":2,"updatedReplicas":3}`, state: readiness.InProgress, reason: "LessReady"},
		{name: "status W12: the replicas of the spec count", spec: `{"replicas":5}`, status: `{` + full + `}`, state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: replicas left over", spec: `{"replicas":2}`, status: `{` + full + `}`, state: readiness.InProgress, reason: "ExtraReplicas"},
		{name: "status 25: too few updated", spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":2}`, state: readiness.InProgress, reason: "LessUpdated"},
		{name: "status W12: the revisions differ", spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3,"currentRevision":"a","updateRevision":"b"}`, state: readiness.InProgress, reason: "RevisionMismatch"},
		{name: "status 25: partition 0 doesn't skip the revisions", spec: `{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":0}}}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3,"currentRevision":"a","updateRevision":"b"}`, state: readiness.InProgress, reason: "RevisionMismatch"},
		{name: "status 25: partition, too few updated", spec: `{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":1}}}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":1}`, state: readiness.InProgress, reason: "PartitionRollout"},
		{name: "status 25: partition, enough updated, the revisions may differ", spec: `{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":1}}}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":2,"currentRevision":"a","updateRevision":"b"}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: partition beyond the replicas", spec: `{"replicas":3,"updateStrategy":{"rollingUpdate":{"partition":9}}}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: minReadySeconds, not available yet", spec: `{"replicas":3,"minReadySeconds":5}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3,"availableReplicas":2}`, state: readiness.InProgress, reason: "LessAvailable"},
		{name: "status 25: without minReadySeconds availability doesn't matter", spec: `{"replicas":3}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":3}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: complete", spec: `{"replicas":3,"minReadySeconds":5}`, status: `{` + full + `}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: replicas default to 1", status: `{"observedGeneration":1,"replicas":1,"readyReplicas":1,"updatedReplicas":1}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: replicas default to 1, not reached", status: `{"observedGeneration":1}`, state: readiness.InProgress, reason: "LessReplicas"},
		{name: "status 25: zero replicas", spec: `{"replicas":0}`, status: `{"observedGeneration":1}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: OnDelete leaves out updates and revisions", spec: `{"replicas":3,` + onDelete + `}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3,"updatedReplicas":0,"currentRevision":"a","updateRevision":"b"}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: OnDelete leaves out the partition", spec: `{"replicas":3,"updateStrategy":{"type":"OnDelete","rollingUpdate":{"partition":1}}}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: OnDelete keeps the observed generation", spec: `{"replicas":0,` + onDelete + `}`, state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: OnDelete keeps the replicas", spec: `{"replicas":3,` + onDelete + `}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":2}`, state: readiness.InProgress, reason: "LessReady"},
		{name: "status 25: OnDelete keeps the surplus", spec: `{"replicas":1,` + onDelete + `}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`, state: readiness.InProgress, reason: "ExtraReplicas"},
		{name: "status 25: OnDelete keeps minReadySeconds", spec: `{"replicas":3,"minReadySeconds":5,` + onDelete + `}`, status: `{"observedGeneration":1,"replicas":3,"readyReplicas":3}`, state: readiness.InProgress, reason: "LessAvailable"},
	})
}

func TestDaemonSet(t *testing.T) {
	const full = `"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,"numberReady":2,"updatedNumberScheduled":2`
	run(t, "apps/v1", "DaemonSet", []cell{
		{name: "status 25: no generation", metadata: `{}`, status: `{` + full + `}`, state: readiness.InProgress, reason: "GenerationMissing"},
		{name: "status 25: no observed generation", status: `{"desiredNumberScheduled":0}`, state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: no desired number", status: `{"observedGeneration":1}`, state: readiness.InProgress, reason: "NoDesiredNumber"},
		{name: "status 25: too few scheduled", status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":1,"numberAvailable":2,"numberReady":2,"updatedNumberScheduled":2}`, state: readiness.InProgress, reason: "LessCurrent"},
		{name: "status 25: too few available", status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":1,"numberReady":2,"updatedNumberScheduled":2}`, state: readiness.InProgress, reason: "LessAvailable"},
		{name: "status 25: too few ready", status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,"numberReady":1,"updatedNumberScheduled":2}`, state: readiness.InProgress, reason: "LessReady"},
		{name: "status 25: too few updated", status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,"numberReady":2,"updatedNumberScheduled":1}`, state: readiness.InProgress, reason: "LessUpdated"},
		{name: "status 25: OnDelete isn't asked for updates", spec: `{"updateStrategy":{"type":"OnDelete"}}`, status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2,"numberReady":2}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: OnDelete is asked for the rest", spec: `{"updateStrategy":{"type":"OnDelete"}}`, status: `{"observedGeneration":1,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":2}`, state: readiness.InProgress, reason: "LessReady"},
		{name: "status 25: complete", status: `{` + full + `}`, state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: none wanted", status: `{"observedGeneration":1,"desiredNumberScheduled":0}`, state: readiness.Ready, reason: "Replicas"},
	})
}

func replicaSetCells() []cell {
	refused := is("ReplicaFailure", "True", "FailedCreate")
	return []cell{
		{name: "status 25: replicas refused", spec: `{"replicas":2}`, status: conditions(`"replicas":1`, refused), state: readiness.Failed, reason: "FailedCreate"},
		{name: "status 25: replicas refused once, nothing is missing", spec: `{"replicas":2}`, status: conditions(`"replicas":2,"fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":2`, refused), state: readiness.Ready, reason: "Replicas"},
		{name: "status 25: too few labeled", spec: `{"replicas":2}`, status: `{"replicas":2,"fullyLabeledReplicas":1,"availableReplicas":2,"readyReplicas":2}`, state: readiness.InProgress, reason: "LessLabeled"},
		{name: "status 25: too few available", spec: `{"replicas":2}`, status: `{"replicas":2,"fullyLabeledReplicas":2,"availableReplicas":1,"readyReplicas":2}`, state: readiness.InProgress, reason: "LessAvailable"},
		{name: "status 25: too few ready", spec: `{"replicas":2}`, status: `{"replicas":2,"fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":1}`, state: readiness.InProgress, reason: "LessReady"},
		{name: "status 25: replicas left over", spec: `{"replicas":1}`, status: `{"replicas":2,"fullyLabeledReplicas":2,"availableReplicas":2,"readyReplicas":2}`, state: readiness.InProgress, reason: "ExtraReplicas"},
		{name: "status 25: replicas default to 1", state: readiness.InProgress, reason: "LessLabeled"},
		{name: "status 25: zero replicas", spec: `{"replicas":0}`, state: readiness.Ready, reason: "Replicas"},
	}
}

func TestReplicaSet(t *testing.T) { run(t, "apps/v1", "ReplicaSet", replicaSetCells()) }
func TestReplicationController(t *testing.T) {
	run(t, "v1", "ReplicationController", replicaSetCells())
}
