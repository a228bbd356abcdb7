package readiness

import (
	"github.com/operkit/operkit/status/internal/condition"
)

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
		checks = checks[:3] // who deletes the Pods decides when they are updated
	}
	if result, done := s.short(desired, checks); done {
		return s.hindered(result)
	}
	return ready("Replicas", "all replicas are ready", "status.numberReady", desired)
}

// replicaSet is the row apps/ReplicaSet and ReplicationController.
func replicaSet(s subject) Result {
	if result, done := s.unreadable("replicas"); done {
		return result
	}
	want := s.wanted("replicas", 1)
	if failure := s.condition("ReplicaFailure"); failure.isTrue() && s.count("replicas") < want {
		return failed(says(failure.reason, "ReplicaFailure"), says(failure.message, "replicas can't be created"),
			field("ReplicaFailure"), "status.replicas", specReplicas)
	}
	if result, done := s.short(specReplicas, []atLeast{
		{"fullyLabeledReplicas", want, "LessLabeled", "fully labeled"},
		{"availableReplicas", want, "LessAvailable", "available"},
		{"readyReplicas", want, "LessReady", "ready"},
	}); done {
		return s.hindered(result)
	}
	if result, done := s.surplus(want); done {
		return s.hindered(result)
	}
	return ready("Replicas", "all replicas are ready", "status.readyReplicas", specReplicas)
}
