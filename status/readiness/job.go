package readiness

import "fmt"

// job is the row batch/Job.
func job(s subject) Result {
	for _, conditionType := range [...]string{"Failed", "FailureTarget"} {
		if v := s.condition(conditionType); v.isTrue() {
			return failed(says(v.reason, "JobFailed"), says(v.message, "the Job has failed"), field(conditionType))
		}
	}
	complete := s.condition("Complete")
	if complete.holds() {
		return ready("JobComplete", says(complete.message, "the Job is complete"), field("Complete"))
	}
	if complete.isTrue() {
		return waits("Complete", complete, "", "")
	}
	suspend, _ := s.spec["suspend"].(bool)
	if suspended := s.condition("Suspended"); suspend && suspended.isTrue() {
		if s.checker.SuspendedJobReady && suspended.holds() {
			return remark("Suspended", says(suspended.message, "the Job is suspended"), field("Suspended"), "spec.suspend")
		}
		return inProgress("Suspended", says(suspended.message, "the Job is suspended"), field("Suspended"), "spec.suspend")
	}
	if s.status["startTime"] == nil {
		if suspend {
			return inProgress("JobNotStarted", "the Job is suspended and hasn't started", "status.startTime", "spec.suspend")
		}
		return inProgress("JobNotStarted", "the Job hasn't started yet", "status.startTime")
	}
	return runningJob(&s)
}

// runningJob says what is known of how the Job gets on.
func runningJob(s *subject) Result {
	result := inProgress("JobRunning", "the Job isn't complete yet", field("Complete"))
	if count := s.count("failed"); count > 0 {
		result = result.with(fmt.Sprintf("%d Pods have failed", count), "status.failed")
	}
	if met := s.condition("SuccessCriteriaMet"); met.isTrue() {
		result = result.with(says(met.message, "its success criteria are met, and Pods are still ending"), field("SuccessCriteriaMet"))
	}
	return result
}
