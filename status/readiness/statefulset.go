package readiness

import (
	"fmt"

	"github.com/operkit/operkit/status/internal/condition"
)

// statefulSet is the row apps/StatefulSet.
func statefulSet(s subject) Result {
	if result, done := s.unreadable("replicas"); done {
		return result
	}
	want := s.wanted("replicas", 1)
	if result, done := s.unobserved(); done {
		return result
	}
	if result, done := s.short(specReplicas, []atLeast{
		{"replicas", want, "LessReplicas", "there"},
		{"readyReplicas", want, "LessReady", "ready"},
	}); done {
		return s.hindered(result)
	}
	if result, done := s.surplus(want); done {
		return s.hindered(result)
	}
	if result, done := statefulSetUpdate(&s, want); done {
		return s.hindered(result)
	}
	if result, done := s.unreadable("minReadySeconds"); done {
		return result
	}
	if s.wanted("minReadySeconds", 0) > 0 {
		if result, done := s.short(specReplicas, []atLeast{{"availableReplicas", want, "LessAvailable", "available"}}); done {
			return s.hindered(result)
		}
	}
	return ready("Replicas", "all replicas are ready", "status.readyReplicas", specReplicas)
}

// statefulSetUpdate looks whether an update went as far as it is to go: not at
// all with OnDelete, down to the partition when there is one.
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
