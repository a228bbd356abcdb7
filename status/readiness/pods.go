package readiness

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/operkit/operkit/status/internal/condition"
)

// unschedulableGrace is how long a Pod may be unschedulable before it counts as Failed.
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
		return s.containerWords(waits("Ready", isReady, "PodNotReady", "the Pod runs and is not ready yet", statusPhase))
	case "Pending":
		return pendingPod(&s)
	}
	return s.otherPhase()
}

func podFailed(s *subject, phase string, isReady view) (Result, bool) {
	if phase == "Failed" {
		return s.failedPod(), true
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
			return failed("Unschedulable", cmp.Or(scheduled.message, "the Pod can't be scheduled"), field("PodScheduled"), statusPhase), true
		}
	}
	return Result{}, false
}

// failedPod returns Failed with the first message that it finds: of the Pod, of the disruption that ended it, or of a
// container.
func (s *subject) failedPod() Result {
	result := failed(cmp.Or(condition.Text(s.status, "reason"), "PodFailed"), cmp.Or(condition.Text(s.status, "message"), "the Pod has failed"), statusPhase)
	if condition.Text(s.status, "message") != "" {
		return result
	}
	if target := s.condition("DisruptionTarget"); target.isTrue() && target.message != "" {
		return result.because("DisruptionTarget", target)
	}
	return s.containerWords(result)
}

// pendingPod returns InProgress and names the first thing that the Pod waits for: the scheduler, a container, or the
// init containers.
func pendingPod(s *subject) Result {
	result := inProgress("PodPending", "the Pod is pending", statusPhase)
	scheduled, initialized := s.condition("PodScheduled"), s.condition("Initialized")
	if scheduled.present && !scheduled.isTrue() && scheduled.message != "" {
		return result.because("PodScheduled", scheduled)
	}
	if worded := s.containerWords(result); worded.Message != result.Message {
		return worded
	}
	if initialized.isFalse() {
		return result.because("Initialized", initialized)
	}
	return result
}

// containerWords returns the result with a message about the first container that has trouble (see troubleOf). If there
// is none, the result is unchanged.
func (s *subject) containerWords(result Result) Result {
	for _, list := range containerLists {
		containers, _ := s.status[list].([]any)
		for _, element := range containers {
			container, _ := element.(map[string]any)
			if words := troubleOf(container); words != "" {
				result.Message = fmt.Sprintf("container %q %s", condition.Text(container, "name"), words)
				return result.withField("status." + list)
			}
		}
	}
	return result
}

// troubleOf describes why a container doesn't run. It returns an empty text for a container that runs, starts or has
// ended successfully.
func troubleOf(container map[string]any) string {
	state := condition.Map(container, "state")
	waiting := condition.Map(state, "waiting")
	reason, message := condition.Text(waiting, "reason"), condition.Text(waiting, "message")
	if reason == "" || message == "" && (reason == "ContainerCreating" || reason == "PodInitializing") {
		return endOf(condition.Map(state, "terminated"))
	}
	words := "waits: " + withReason(reason, message)
	if last := endOf(condition.Map(condition.Map(container, "lastState"), "terminated")); last != "" {
		words += "; its last run " + last
	}
	return words
}

// endOf describes how a container failed. It returns an empty text for a container that succeeded or hasn't ended.
func endOf(terminated map[string]any) string {
	code, ended := condition.Integer(terminated["exitCode"])
	if !ended || code == 0 {
		return ""
	}
	words := fmt.Sprintf("ended with exit code %d", code)
	for _, more := range [...]string{condition.Text(terminated, "reason"), condition.Text(terminated, "message")} {
		if more != "" && more != "Error" {
			words += ": " + more
		}
	}
	return words
}

// withReason puts the reason, which people search for, before the message, unless the message contains it.
func withReason(reason, message string) string {
	switch {
	case message == "":
		return reason
	case strings.Contains(message, reason):
		return message
	}
	return reason + ": " + message
}

// containerLists are the fields of the status that hold containers, in the order in which the containers start.
var containerLists = [...]string{"initContainerStatuses", "containerStatuses"}

func containersFailed(s *subject, isReady view) (Result, bool) {
	if grace := s.checker.ContainerGrace; grace > 0 {
		if lasts, ok := s.lasts(isReady); !ok || lasts <= grace {
			return Result{}, false
		}
	}
	for _, list := range containerLists {
		containers, _ := s.status[list].([]any)
		for _, element := range containers {
			container, _ := element.(map[string]any)
			waiting := condition.Map(condition.Map(container, "state"), "waiting")
			if reason := condition.Text(waiting, "reason"); isFatal(reason) {
				message := fmt.Sprintf("container %q %s", condition.Text(container, "name"), troubleOf(container))
				return failed(reason, message, "status."+list), true
			}
		}
	}
	return Result{}, false
}

// isFatal reports whether a container that waits with this reason counts as failed.
func isFatal(reason string) bool {
	switch reason {
	case "CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CreateContainerConfigError":
		return true
	}
	return false
}

const statusPhase = "status.phase"

// otherPhase returns the result for a phase that the row of the kind doesn't handle.
func (s *subject) otherPhase() Result {
	phase := s.phase()
	if phase == "" {
		return inProgress("PhaseMissing", "the object has no phase yet", statusPhase)
	}
	return unknown("PhaseUnknown", fmt.Sprintf("the phase %q isn't known", phase), statusPhase)
}

// job is the row batch/Job.
func job(s subject) Result {
	for _, conditionType := range [...]string{"Failed", "FailureTarget"} {
		if v := s.condition(conditionType); v.isTrue() {
			return failed(cmp.Or(v.reason, "JobFailed"), cmp.Or(v.message, "the Job has failed"), field(conditionType))
		}
	}
	complete := s.condition("Complete")
	if complete.holds() {
		return ready("JobComplete", cmp.Or(complete.message, "the Job is complete"), field("Complete"))
	}
	if complete.isTrue() {
		return waits("Complete", complete, "", "")
	}
	suspend, _ := s.spec["suspend"].(bool)
	if suspended := s.condition("Suspended"); suspend && suspended.isTrue() {
		if s.checker.SuspendedJobReady && suspended.holds() {
			return remark("Suspended", cmp.Or(suspended.message, "the Job is suspended"), field("Suspended"), "spec.suspend")
		}
		return inProgress("Suspended", cmp.Or(suspended.message, "the Job is suspended"), field("Suspended"), "spec.suspend")
	}
	if s.status["startTime"] == nil {
		if suspend {
			return inProgress("JobNotStarted", "the Job is suspended and hasn't started", "status.startTime", "spec.suspend")
		}
		return inProgress("JobNotStarted", "the Job hasn't started yet", "status.startTime")
	}
	return runningJob(&s)
}

// runningJob returns InProgress, with a message about the Job's Pods.
func runningJob(s *subject) Result {
	result := inProgress("JobRunning", "the Job isn't complete yet", field("Complete"))
	if count := s.count("failed"); count > 0 {
		result = result.with(fmt.Sprintf("%d Pods have failed", count), "status.failed")
	}
	if met := s.condition("SuccessCriteriaMet"); met.isTrue() {
		result = result.with(cmp.Or(met.message, "its success criteria are met, and Pods are still ending"), field("SuccessCriteriaMet"))
	}
	return result
}
