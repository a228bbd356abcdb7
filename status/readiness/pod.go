package readiness

import (
	"fmt"
	"time"

	"github.com/operkit/operkit/status/internal/condition"
)

// unschedulableGrace is how long the scheduler is given before an unschedulable
// Pod has failed.
const unschedulableGrace = 15 * time.Second

// pod is the row Pod.
func pod(s subject) Result {
	phase, isReady := s.phase(), s.condition("Ready")
	if result, done := podFailed(&s, phase, isReady); done {
		return result
	}
	switch phase {
	case "Succeeded":
		return ready("PodSucceeded", "the Pod has completed", statusPhase)
	case "Running":
		if isReady.holds() {
			return ready("PodReady", "the Pod is ready", field("Ready"), statusPhase)
		}
		return waits("Ready", isReady, "PodNotReady", "the Pod runs and is not ready yet", statusPhase)
	case "Pending":
		return inProgress("PodPending", says(s.condition("PodScheduled").message, "the Pod is pending"), statusPhase)
	}
	return s.otherPhase()
}

func podFailed(s *subject, phase string, isReady view) (Result, bool) {
	if phase == "Failed" {
		return failed(says(condition.Text(s.status, "reason"), "PodFailed"), says(condition.Text(s.status, "message"), "the Pod has failed"), statusPhase), true
	}
	if phase == "Succeeded" || phase == "Running" && isReady.isTrue() {
		return Result{}, false
	}
	if result, done := containersFailed(s, isReady); done {
		return result, true
	}
	scheduled := s.condition("PodScheduled")
	if phase == "Pending" && scheduled.isFalse() && scheduled.reason == "Unschedulable" {
		if lasts, ok := s.lasts(scheduled); ok && lasts > unschedulableGrace {
			return failed("Unschedulable", says(scheduled.message, "the Pod can't be scheduled"), field("PodScheduled"), statusPhase), true
		}
	}
	return Result{}, false
}

func containersFailed(s *subject, isReady view) (Result, bool) {
	if grace := s.checker.ContainerGrace; grace > 0 {
		if lasts, ok := s.lasts(isReady); !ok || lasts <= grace {
			return Result{}, false
		}
	}
	for _, list := range [...]string{"initContainerStatuses", "containerStatuses"} {
		containers, _ := s.status[list].([]any)
		for _, element := range containers {
			container, _ := element.(map[string]any)
			waiting := condition.Map(condition.Map(container, "state"), "waiting")
			if reason := condition.Text(waiting, "reason"); hopeless(reason) {
				message := fmt.Sprintf("container %q waits: %s", condition.Text(container, "name"), says(condition.Text(waiting, "message"), reason))
				return failed(reason, message, "status."+list), true
			}
		}
	}
	return Result{}, false
}

// hopeless tells of a container's reason to wait that it won't pass by itself.
func hopeless(reason string) bool {
	switch reason {
	case "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CreateContainerConfigError":
		return true
	}
	return false
}

const statusPhase = "status.phase"

// otherPhase answers for a phase that no cell of a row names.
func (s *subject) otherPhase() Result {
	phase := s.phase()
	if phase == "" {
		return inProgress("PhaseMissing", "the object has no phase yet", statusPhase)
	}
	return unknown("PhaseUnknown", fmt.Sprintf("the phase %q isn't known", phase), statusPhase)
}
