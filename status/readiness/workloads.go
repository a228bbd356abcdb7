package readiness

import (
	"cmp"
	"fmt"
	"math"

	"github.com/operkit/operkit/status/internal/condition"
)

// deployment is the row apps/Deployment.
func deployment(s subject) Result {
	want, result, done := s.wanted("replicas", 1)
	if done {
		return result
	}
	if paused, _ := s.spec["paused"].(bool); paused {
		return pausedDeployment(&s, want)
	}
	counted, lacking := deploymentCounts(&s, want)
	if result, done := deploymentFailed(&s, want); done {
		if lacking {
			result = s.withReplicaFailure(result)
		}
		return result
	}
	if result, done := s.unobserved(); done {
		return result
	}
	available, progressing := s.condition("Available"), s.condition("Progressing")
	if lacking {
		if progressing.isFalse() {
			counted = counted.because("Progressing", progressing)
		}
		return s.withReplicaFailure(counted)
	}
	if !available.holds() {
		return s.unmet("Available", available, "NotAvailable", "the condition Available is not True", "Progressing", progressing)
	}
	if hasDeadline(&s) && !(progressing.holds() && progressing.reason == "NewReplicaSetAvailable") {
		return waits("Progressing", progressing, "NotProgressed", "the new ReplicaSet is not available yet")
	}
	return ready("Available", "all replicas are available", field("Available"))
}

// pausedDeployment uses the counts and no conditions, because the controller doesn't update the conditions of a paused
// Deployment.
func pausedDeployment(s *subject, want int64) Result {
	result, done := s.unobserved()
	if !done {
		result, done = deploymentCounts(s, want)
	}
	if !done {
		return remark("Paused", "the Deployment is paused and has all its replicas", specReplicas, "spec.paused")
	}
	result.Message = "the Deployment is paused: " + result.Message
	return result.withField("spec.paused")
}

func deploymentFailed(s *subject, want int64) (Result, bool) {
	progressing := s.condition("Progressing")
	if progressing.reason == "ProgressDeadlineExceeded" {
		return failed(progressing.reason, cmp.Or(progressing.message, "the progress deadline is exceeded"), field("Progressing")), true
	}
	failure := s.condition("ReplicaFailure")
	halted := !progressing.present || progressing.isFalse()
	if failure.isTrue() && halted && s.count("updatedReplicas") < want {
		return failed(cmp.Or(failure.reason, "ReplicaFailure"), cmp.Or(failure.message, "replicas can't be created"),
			field("ReplicaFailure"), "status.updatedReplicas", specReplicas), true
	}
	return Result{}, false
}

func deploymentCounts(s *subject, want int64) (Result, bool) {
	if result, done := s.short(specReplicas, []atLeast{
		{"replicas", want, "LessReplicas", "there"},
		{"updatedReplicas", want, "LessUpdated", "updated"},
		{"readyReplicas", want, "LessReady", "ready"},
	}); done {
		return result, true
	}
	if result, done := s.short("status.updatedReplicas", []atLeast{
		{"availableReplicas", s.count("updatedReplicas"), "LessAvailable", "available"},
	}); done {
		return result, true
	}
	return s.surplus(want)
}

// hasDeadline reports whether the controller updates the condition Progressing. It does so only for Deployments with a
// progress deadline.
func hasDeadline(s *subject) bool {
	seconds, set := condition.Integer(s.spec["progressDeadlineSeconds"])
	return set && seconds != math.MaxInt32
}

// statefulSet is the row apps/StatefulSet.
func statefulSet(s subject) Result {
	want, result, done := s.wanted("replicas", 1)
	if done {
		return result
	}
	if result, done := s.unobserved(); done {
		return result
	}
	if result, done := s.short(specReplicas, []atLeast{
		{"replicas", want, "LessReplicas", "there"},
		{"readyReplicas", want, "LessReady", "ready"},
	}); done {
		return s.withReplicaFailure(result)
	}
	if result, done := s.surplus(want); done {
		return s.withReplicaFailure(result)
	}
	if result, done := statefulSetUpdate(&s, want); done {
		return s.withReplicaFailure(result)
	}
	seconds, result, done := s.wanted("minReadySeconds", 0)
	if done {
		return result
	}
	if seconds > 0 {
		if result, done := s.short(specReplicas, []atLeast{{"availableReplicas", want, "LessAvailable", "available"}}); done {
			return s.withReplicaFailure(result)
		}
	}
	return ready("Replicas", "all replicas are ready", "status.readyReplicas", specReplicas)
}

// statefulSetUpdate returns a result while an update isn't complete. With a partition it waits only for the replicas
// above the partition. With OnDelete it never waits.
func statefulSetUpdate(s *subject, want int64) (Result, bool) {
	strategy := condition.Map(s.spec, "updateStrategy")
	if condition.Text(strategy, "type") == "OnDelete" {
		return Result{}, false
	}
	partition, _ := condition.Integer(condition.Map(strategy, "rollingUpdate")["partition"])
	if partition > 0 {
		return s.short("spec.updateStrategy.rollingUpdate.partition", []atLeast{
			{"updatedReplicas", max(0, want-partition), "PartitionRollout", "updated"},
		})
	}
	if result, done := s.short(specReplicas, []atLeast{{"updatedReplicas", want, "LessUpdated", "updated"}}); done {
		return result, true
	}
	current, update := condition.Text(s.status, "currentRevision"), condition.Text(s.status, "updateRevision")
	if current != update {
		return inProgress("RevisionMismatch",
			fmt.Sprintf("the update from revision %q to %q isn't finished", current, update),
			"status.currentRevision", "status.updateRevision"), true
	}
	return Result{}, false
}

// daemonSet is the row apps/DaemonSet.
func daemonSet(s subject) Result {
	if _, known := s.generation(); !known {
		return inProgress("GenerationMissing", "the object has no generation to compare to", "metadata.generation")
	}
	if result, done := s.unobserved(); done {
		return result
	}
	const desired = "status.desiredNumberScheduled"
	want, stated := condition.Integer(s.status["desiredNumberScheduled"])
	if !stated {
		return inProgress("NoDesiredNumber", "the controller hasn't counted the nodes yet", desired)
	}
	checks := []atLeast{
		{"currentNumberScheduled", want, "LessCurrent", "scheduled"},
		{"numberAvailable", want, "LessAvailable", "available"},
		{"numberReady", want, "LessReady", "ready"},
		{"updatedNumberScheduled", want, "LessUpdated", "updated"},
	}
	if condition.Text(condition.Map(s.spec, "updateStrategy"), "type") == "OnDelete" {
		checks = checks[:3] // with OnDelete, the Pods are updated when somebody deletes them
	}
	if result, done := s.short(desired, checks); done {
		return s.withReplicaFailure(result)
	}
	return ready("Replicas", "all replicas are ready", "status.numberReady", desired)
}

// replicaSet is the row of apps/ReplicaSet and ReplicationController.
func replicaSet(s subject) Result {
	want, result, done := s.wanted("replicas", 1)
	if done {
		return result
	}
	if failure := s.condition("ReplicaFailure"); failure.isTrue() && s.count("replicas") < want {
		return failed(cmp.Or(failure.reason, "ReplicaFailure"), cmp.Or(failure.message, "replicas can't be created"),
			field("ReplicaFailure"), "status.replicas", specReplicas)
	}
	if result, done := s.short(specReplicas, []atLeast{
		{"fullyLabeledReplicas", want, "LessLabeled", "fully labeled"},
		{"availableReplicas", want, "LessAvailable", "available"},
		{"readyReplicas", want, "LessReady", "ready"},
	}); done {
		return s.withReplicaFailure(result)
	}
	if result, done := s.surplus(want); done {
		return s.withReplicaFailure(result)
	}
	return ready("Replicas", "all replicas are ready", "status.readyReplicas", specReplicas)
}
