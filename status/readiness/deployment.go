package readiness

import (
	"math"

	"github.com/operkit/operkit/status/internal/condition"
)

// deployment is the row apps/Deployment. A paused one is judged by its counts
// only, since its controller leaves the conditions as they were.
func deployment(s subject) Result {
	if result, done := s.unreadable("replicas"); done {
		return result
	}
	want := s.wanted("replicas", 1)
	paused, _ := s.spec["paused"].(bool)
	if !paused {
		if result, done := deploymentFailed(&s, want); done {
			return result
		}
	}
	if result, done := deploymentCounts(&s, want); done {
		return result
	}
	if paused {
		return ready("Paused", "paused with all replicas there", specReplicas, "spec.paused")
	}
	if available := s.condition("Available"); !available.holds() {
		return waits("Available", available, "NotAvailable", "the condition Available is not True")
	}
	progressing := s.condition("Progressing")
	if hasDeadline(&s) && !(progressing.holds() && progressing.reason == "NewReplicaSetAvailable") {
		return waits("Progressing", progressing, "NotProgressed", "the new ReplicaSet is not available yet")
	}
	return ready("Available", "all replicas are available", field("Available"))
}

func deploymentFailed(s *subject, want int64) (Result, bool) {
	progressing := s.condition("Progressing")
	if progressing.reason == "ProgressDeadlineExceeded" {
		return failed(progressing.reason, says(progressing.message, "the progress deadline is exceeded"), field("Progressing")), true
	}
	failure := s.condition("ReplicaFailure")
	halted := !progressing.present || progressing.isFalse()
	if failure.isTrue() && halted && s.count("updatedReplicas") < want {
		return failed(says(failure.reason, "ReplicaFailure"), says(failure.message, "replicas can't be created"),
			field("ReplicaFailure"), "status.updatedReplicas", specReplicas), true
	}
	return Result{}, false
}

func deploymentCounts(s *subject, want int64) (Result, bool) {
	if result, done := s.unobserved(); done {
		return result, true
	}
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

// hasDeadline tells whether the controller keeps the Progressing condition up
// to date: it does so only for Deployments with a progress deadline.
func hasDeadline(s *subject) bool {
	seconds, set := condition.Integer(s.spec["progressDeadlineSeconds"])
	return set && seconds != math.MaxInt32
}
