package readiness_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/operkit/operkit/status/readiness"
)

// waiting makes the status of a container that waits.
func waiting(list, reason string) string {
	return fmt.Sprintf(`%q:[{"name":"first","state":{"running":{}}},{"name":"main","state":{"waiting":{"reason":%q,"message":"own words"}}}]`, list, reason)
}

func TestPod(t *testing.T) {
	notReady, isReady := is("Ready", "False", "ContainersNotReady"), is("Ready", "True", "")
	unschedulable := func(since string) string {
		return `{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"0/1 nodes","lastTransitionTime":"` + since + `"}`
	}
	cells := []cell{
		{name: "status 25: phase Failed", status: `{"phase":"Failed","reason":"Evicted"}`, state: readiness.Failed, reason: "Evicted"},
		{name: "status 25: phase Failed, no words", status: conditions(`"phase":"Failed"`, isReady), state: readiness.Failed, reason: "PodFailed"},
		{name: "status 25: a isFatal init container", status: `{"phase":"Pending",` + waiting("initContainerStatuses", "CrashLoopBackOff") + `}`, state: readiness.Failed, reason: "CrashLoopBackOff"},
		{name: "status 25: a isFatal container, whatever the phase", status: `{` + waiting("containerStatuses", "CrashLoopBackOff") + `}`, state: readiness.Failed, reason: "CrashLoopBackOff"},
		{name: "status 25: a isFatal container, phase unknown", status: `{"phase":"Unknown",` + waiting("containerStatuses", "CrashLoopBackOff") + `}`, state: readiness.Failed, reason: "CrashLoopBackOff"},
		{name: "status 25: a isFatal container doesn't count once succeeded", status: `{"phase":"Succeeded",` + waiting("containerStatuses", "CrashLoopBackOff") + `}`, state: readiness.Ready, reason: "PodSucceeded"},
		{name: "status 25: nor while running and ready", status: conditions(`"phase":"Running",`+waiting("containerStatuses", "CrashLoopBackOff"), isReady), state: readiness.Ready, reason: "PodReady"},
		{name: "status 25: it does while running and not ready", status: conditions(`"phase":"Running",`+waiting("containerStatuses", "CrashLoopBackOff"), notReady), state: readiness.Failed, reason: "CrashLoopBackOff"},
		{name: "status 24: a Ready of an older generation still exempts, but isn't ready", metadata: second, status: conditions(`"phase":"Running",`+waiting("containerStatuses", "CrashLoopBackOff"), old("Ready", "")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 25: a container that is being made", status: `{"phase":"Pending",` + waiting("containerStatuses", "ContainerCreating") + `}`, state: readiness.InProgress, reason: "PodPending"},
		{
			name: "status 25: grace, no time given", checker: readiness.Checker{ContainerGrace: time.Minute},
			status: `{"phase":"Pending",` + waiting("containerStatuses", "ErrImagePull") + `}`, state: readiness.InProgress, reason: "PodPending",
		},
		{
			name: "status 25: grace, not over", checker: readiness.Checker{ContainerGrace: time.Minute}, now: noon, metadata: `{"creationTimestamp":"2026-05-06T11:59:00Z"}`,
			status: `{"phase":"Pending",` + waiting("containerStatuses", "ErrImagePull") + `}`, state: readiness.InProgress, reason: "PodPending",
		},
		{
			name: "status 25: grace, over since the creation", checker: readiness.Checker{ContainerGrace: time.Minute}, now: noon, metadata: `{"creationTimestamp":"2026-05-06T11:58:59Z"}`,
			status: `{"phase":"Pending",` + waiting("containerStatuses", "ErrImagePull") + `}`, state: readiness.Failed, reason: "ErrImagePull",
		},
		{
			name: "status 25: grace, counted from the last transition", checker: readiness.Checker{ContainerGrace: time.Minute}, now: noon, metadata: `{"creationTimestamp":"2026-05-06T10:00:00Z"}`,
			status: conditions(`"phase":"Running",`+waiting("containerStatuses", "ErrImagePull"), `{"type":"Ready","status":"False","reason":"R","lastTransitionTime":"2026-05-06T11:59:30Z"}`), state: readiness.InProgress, reason: "R",
		},
		{name: "status 25: unschedulable, no time given", status: conditions(`"phase":"Pending"`, unschedulable("2026-01-01T00:00:00Z")), state: readiness.InProgress, reason: "PodPending"},
		{name: "status 25: unschedulable for 15 s", now: noon, status: conditions(`"phase":"Pending"`, unschedulable("2026-05-06T11:59:45Z")), state: readiness.InProgress, reason: "PodPending"},
		{name: "status 25: unschedulable for 16 s", now: noon, status: conditions(`"phase":"Pending"`, unschedulable("2026-05-06T11:59:44Z")), state: readiness.Failed, reason: "Unschedulable"},
		{name: "status 25: unschedulable since the creation", now: noon, metadata: `{"creationTimestamp":"2026-05-06T11:59:44Z"}`, status: conditions(`"phase":"Pending"`, unschedulable("?")), state: readiness.Failed, reason: "Unschedulable"},
		{name: "status 25: unschedulable since nobody knows when", now: noon, status: conditions(`"phase":"Pending"`, unschedulable("?")), state: readiness.InProgress, reason: "PodPending"},
		{name: "status 25: not scheduled for another reason", now: noon, status: conditions(`"phase":"Pending"`, is("PodScheduled", "False", "SchedulingGated")), state: readiness.InProgress, reason: "PodPending"},
		{name: "status 25: unschedulable while running", now: noon, status: conditions(`"phase":"Running"`, unschedulable("2026-01-01T00:00:00Z"), notReady), state: readiness.InProgress, reason: "ContainersNotReady"},
		{name: "status 25: Pending", status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "PodPending"},
		{name: "status 25: Running and not ready", status: conditions(`"phase":"Running"`, notReady), state: readiness.InProgress, reason: "ContainersNotReady"},
		{name: "status 25: Running, Ready absent", status: `{"phase":"Running"}`, state: readiness.InProgress, reason: "PodNotReady"},
		{name: "status 25: no phase", status: conditions("", isReady), state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "status 25: a phase of another shape is missing", status: `{"phase":7}`, state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "status 25: Running and ready", status: conditions(`"phase":"Running"`, isReady), state: readiness.Ready, reason: "PodReady"},
		{name: "status W14: Succeeded", status: conditions(`"phase":"Succeeded"`, notReady), state: readiness.Ready, reason: "PodSucceeded"},
		{name: "status 25: a phase that no cell names", status: `{"phase":"Unknown"}`, state: readiness.Unknown, reason: "PhaseUnknown"},
		{name: "container statuses of other shapes", status: `{"phase":"Pending","containerStatuses":[null,7,{"state":"waiting"},{"state":{"waiting":{"reason":7}}}],"initContainerStatuses":{}}`, state: readiness.InProgress, reason: "PodPending"},
	}
	for _, reason := range []string{"CrashLoopBackOff", "ImagePullBackOff", "ErrImagePull", "InvalidImageName", "CreateContainerConfigError"} {
		cells = append(cells, cell{
			name: "status 25: a container waits, " + reason, status: `{"phase":"Pending",` + waiting("containerStatuses", reason) + `}`,
			state: readiness.Failed, reason: reason,
		})
	}
	run(t, "v1", "Pod", cells)
}

func TestJob(t *testing.T) {
	suspended := is("Suspended", "True", "JobSuspended")
	asIs := readiness.Checker{SuspendedJobReady: true}
	run(t, "batch/v1", "Job", []cell{
		{name: "status 25: Failed", status: conditions("", is("Failed", "True", "BackoffLimitExceeded")), state: readiness.Failed, reason: "BackoffLimitExceeded"},
		{name: "status 25: Failed, no words", status: conditions("", `{"type":"Failed","status":"True"}`), state: readiness.Failed, reason: "JobFailed"},
		{name: "status 25: FailureTarget", status: conditions("", is("FailureTarget", "True", "PodFailurePolicy")), state: readiness.Failed, reason: "PodFailurePolicy"},
		{name: "status 25: Failed and Complete, whichever is first", status: conditions("", is("Complete", "True", "C"), is("Failed", "True", "F")), state: readiness.Failed, reason: "F"},
		{name: "status 25: not started", state: readiness.InProgress, reason: "JobNotStarted"},
		{name: "status 25: running", status: `{"startTime":"2026-05-06T11:00:00Z","active":1}`, state: readiness.InProgress, reason: "JobRunning"},
		{name: "status 25: neither Failed nor Complete is True", status: conditions(`"startTime":"2026-05-06T11:00:00Z"`, is("Complete", "False", "C"), is("Failed", "Unknown", "F")), state: readiness.InProgress, reason: "JobRunning"},
		{name: "status 25: the success criteria alone", status: conditions(`"startTime":"2026-05-06T11:00:00Z"`, is("SuccessCriteriaMet", "True", "S")), state: readiness.InProgress, reason: "JobRunning"},
		{name: "status 25: suspended", spec: `{"suspend":true}`, status: conditions("", suspended), state: readiness.InProgress, reason: "Suspended"},
		{name: "status 25: suspended, as wanted", checker: asIs, spec: `{"suspend":true}`, status: conditions("", suspended), state: readiness.Ready, reason: "Suspended"},
		{name: "status 25: to be suspended", checker: asIs, spec: `{"suspend":true}`, status: `{"startTime":"2026-05-06T11:00:00Z"}`, state: readiness.InProgress, reason: "JobRunning"},
		{name: "status 25: to be resumed", checker: asIs, spec: `{"suspend":false}`, status: conditions("", suspended), state: readiness.InProgress, reason: "JobNotStarted"},
		{name: "status 25: complete", status: conditions("", is("Complete", "True", "")), state: readiness.Ready, reason: "JobComplete"},
		{name: "status 25: complete, whatever suspend says", spec: `{"suspend":true}`, status: conditions("", suspended, is("Complete", "True", "")), state: readiness.Ready, reason: "JobComplete"},
		{name: "status 24: complete at an older generation", metadata: second, status: conditions("", old("Complete", "")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 24: failed at an older generation stands", metadata: second, status: conditions("", old("Failed", "F")), state: readiness.Failed, reason: "F"},
	})
}
