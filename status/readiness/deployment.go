package readiness

import (
	"math"

	"github.com/operkit/operkit/status/internal/condition"
)

// deployment is the row apps/Deployment.
func deployment(s subject) Result {
	if result, done := s.unreadable("replicas"); done {
		return result
	}
	want := s.wanted("replicas", 1)
	if paused, _ := s.spec["paused"].(bool); paused {
		return pausedDeployment(&s, want)
	}
	counted, lacking := deploymentCounts(&s, want)
	if result, done := deploymentFailed(&s, want); done {
		if lacking {
			result = s.hindered(result)
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
		return s.hindered(counted)
	}
	if !available.holds() {
		return s.unmet("Available", available, "NotAvailable", "the condition Available is not True", "Progressing", progressing)
	}
	if hasDeadline(&s) && !(progressing.holds() && progressing.reason == "NewReplicaSetAvailable") {
		return waits("Progressing", progressing, "NotProgressed", "the new ReplicaSet is not available yet")
	}
	return ready("Available", "all replicas are available", field("Available"))
}

// pausedDeployment judges by the counts only, since the controller leaves the conditions of a paused one as they were.
func pausedDeployment(s *subject, want int64) Result {
	result, done := s.unobserved()
	if !done {
		result, done = deploymentCounts(s, want)
	}
	if !done {
		return remark("Paused", "paused with all replicas there", specReplicas, "spec.paused")
	}
	result.Message = "the Deployment is paused: " + result.Message
	return result.withField("spec.paused")
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
