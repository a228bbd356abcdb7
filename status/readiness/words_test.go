package readiness_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status/readiness"
)

// say makes a condition with a message of its own.
func say(conditionType, status, reason, message string) string {
	return `{"type":"` + conditionType + `","status":"` + status + `","reason":"` + reason + `","message":"` + message + `"}`
}

// TestWords has for each kind that general and special conditions speak of the message: the special one is said.
func TestWords(t *testing.T) {
	t.Parallel()
	const (
		quota    = "pods is forbidden: exceeded quota: q"
		deadline = "has timed out progressing"
		three    = `{"replicas":3,"progressDeadlineSeconds":600}`
		one      = `"observedGeneration":1`
		deleted  = `{"deletionTimestamp":"2026-05-06T11:00:00Z","finalizers":["kubernetes.io/pvc-protection","example.com/hold"]}`
		oom      = `{"terminated":{"exitCode":137,"reason":"OOMKilled"}}`
	)
	refused := say("ReplicaFailure", "True", "FailedCreate", quota)
	late := say("Progressing", "False", "ProgressDeadlineExceeded", deadline)
	container := func(state, more string) string {
		return `"containerStatuses":[{"name":"c","state":` + state + more + `}]`
	}
	for _, row := range []struct {
		reason, apiVersion, kind string
		cell                     cell
		want                     string
	}{
		{"the quota, before the deadline", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, refused, say("Progressing", "True", "ReplicaSetUpdated", "is progressing")), state: readiness.InProgress}, quota},
		{"the quota, past the deadline", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, refused, late), state: readiness.Failed}, quota},
		{"the quota, in the middle of an update", "apps/v1", "Deployment", cell{spec: three, status: conditions(one+`,"replicas":3,"readyReplicas":3,"availableReplicas":3`, refused, say("Progressing", "True", "X", "is progressing")), state: readiness.InProgress}, quota},
		{"the quota, nothing progresses", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, refused), state: readiness.Failed}, quota},
		{"a refusal to delete what is left over", "apps/v1", "Deployment", cell{spec: `{"replicas":0}`, status: conditions(one+`,"replicas":1`, say("ReplicaFailure", "True", "FailedDelete", "no way")), state: readiness.InProgress}, "no way"},
		{"a ReplicaSet that can't be created", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, say("Progressing", "False", "ReplicaSetCreateError", "denied by policy"), say("Available", "False", "MinimumReplicasUnavailable", "no minimum availability")), state: readiness.InProgress}, "denied by policy"},
		{"the deadline alone", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, late), state: readiness.Failed}, deadline},
		{"a refusal of the past is no reason for the deadline", "apps/v1", "Deployment", cell{spec: three, status: conditions(one+`,"replicas":3,"updatedReplicas":3,"readyReplicas":3,"availableReplicas":3`, refused, late), state: readiness.Failed}, deadline},
		{"no words at all", "apps/v1", "Deployment", cell{spec: three, status: conditions(one, `{"type":"ReplicaFailure","status":"True"}`), state: readiness.Failed}, "replicas can't be created"},
		{"counts alone", "apps/v1", "Deployment", cell{spec: three, status: `{` + one + `}`, state: readiness.InProgress}, "0 of 3 replicas are there"},
		{"an absent condition hides nothing", "apps/v1", "Deployment", cell{spec: `{"replicas":0}`, status: conditions(one, say("Progressing", "False", "X", "denied")), state: readiness.InProgress}, "denied"},
		{"paused, counts are missing", "apps/v1", "Deployment", cell{spec: `{"replicas":3,"paused":true}`, status: conditions(one, refused), state: readiness.InProgress}, "the Deployment is paused: 0 of 3 replicas are there"},
		{"paused, an update waits", "apps/v1", "Deployment", cell{spec: `{"replicas":3,"paused":true}`, status: `{` + one + `,"replicas":3,"readyReplicas":3,"availableReplicas":3}`, state: readiness.InProgress}, "the Deployment is paused: 0 of 3 replicas are updated"},
		{"paused, not observed yet", "apps/v1", "Deployment", cell{spec: `{"paused":true}`, state: readiness.InProgress}, "the Deployment is paused: the controller hasn't observed the object yet"},
		{"paused with all it wants", "apps/v1", "Deployment", cell{spec: `{"replicas":0,"paused":true}`, status: `{` + one + `}`, state: readiness.Ready}, "the Deployment is paused and has all its replicas"},

		{"the quota", "apps/v1", "ReplicaSet", cell{spec: `{"replicas":1}`, status: conditions(one, refused), state: readiness.Failed}, quota},
		{"a refusal to delete", "apps/v1", "ReplicaSet", cell{spec: `{"replicas":0}`, status: conditions(one+`,"replicas":1`, say("ReplicaFailure", "True", "FailedDelete", "no way")), state: readiness.InProgress}, "no way"},
		{"the quota", "v1", "ReplicationController", cell{spec: `{"replicas":1}`, status: conditions(one, refused), state: readiness.Failed}, quota},
		{"what the controller says, if it does", "apps/v1", "StatefulSet", cell{spec: `{"replicas":1}`, status: conditions(one, refused), state: readiness.InProgress}, quota},
		{"what the controller says, if it does", "apps/v1", "DaemonSet", cell{status: conditions(one+`,"desiredNumberScheduled":1`, refused), state: readiness.InProgress}, quota},

		{"a container, within its grace or for another reason", "v1", "Pod", cell{status: conditions(`"phase":"Running",`+container(`{"waiting":{"reason":"RunContainerError","message":"no such file"}}`, ""), say("Ready", "False", "ContainersNotReady", "containers with unready status: [c]")), state: readiness.InProgress}, `container "c" waits: RunContainerError: no such file`},
		{"why a crashing container ended", "v1", "Pod", cell{status: `{"phase":"Running",` + container(`{"waiting":{"reason":"CrashLoopBackOff","message":"back-off 5m0s"}}`, `,"lastState":`+oom) + `}`, state: readiness.Failed}, `container "c" waits: CrashLoopBackOff: back-off 5m0s; its last run ended with exit code 137: OOMKilled`},
		{"why a container ended just now", "v1", "Pod", cell{status: conditions(`"phase":"Running",`+container(oom, ""), say("Ready", "False", "ContainersNotReady", "unready")), state: readiness.InProgress}, `container "c" ended with exit code 137: OOMKilled`},
		{"a container that did its work", "v1", "Pod", cell{status: conditions(`"phase":"Running",`+container(`{"terminated":{"exitCode":0}}`, ""), say("Ready", "False", "ContainersNotReady", "unready")), state: readiness.InProgress}, "unready"},
		{"a gate", "v1", "Pod", cell{status: conditions(`"phase":"Running"`, say("Ready", "False", "ReadinessGatesNotReady", "gate x is False")), state: readiness.InProgress}, "gate x is False"},
		{"the scheduler", "v1", "Pod", cell{status: conditions(`"phase":"Pending"`, say("PodScheduled", "False", "SchedulingGated", "gated"), say("Initialized", "False", "X", "incomplete")), state: readiness.InProgress}, "gated"},
		{"a container of a Pod that is scheduled", "v1", "Pod", cell{status: conditions(`"phase":"Pending",`+container(`{"waiting":{"reason":"CreateContainerError","message":"taken"}}`, ""), say("PodScheduled", "True", "", "")), state: readiness.InProgress}, `container "c" waits: CreateContainerError: taken`},
		{"containers that run first", "v1", "Pod", cell{status: conditions(`"phase":"Pending",`+container(`{"waiting":{"reason":"PodInitializing"}}`, ""), say("Initialized", "False", "ContainersNotInitialized", "incomplete: [init]")), state: readiness.InProgress}, "incomplete: [init]"},
		{"nothing but the phase", "v1", "Pod", cell{status: `{"phase":"Pending"}`, state: readiness.InProgress}, "the Pod is pending"},
		{"the Pod's own words", "v1", "Pod", cell{status: `{"phase":"Failed","reason":"Evicted","message":"low on memory",` + container(oom, "") + `}`, state: readiness.Failed}, "low on memory"},
		{"who ended it", "v1", "Pod", cell{status: conditions(`"phase":"Failed"`, say("DisruptionTarget", "True", "PreemptionByScheduler", "preempted")), state: readiness.Failed}, "preempted"},
		{"the container that ended it", "v1", "Pod", cell{status: `{"phase":"Failed",` + container(`{"terminated":{"exitCode":1,"reason":"Error","message":"no config"}}`, "") + `}`, state: readiness.Failed}, `container "c" ended with exit code 1: no config`},

		{"Pods that failed", "batch/v1", "Job", cell{status: `{"startTime":"2026-05-06T11:00:00Z","failed":2}`, state: readiness.InProgress}, "the Job isn't complete yet: 2 Pods have failed"},
		{"it is done but for its Pods", "batch/v1", "Job", cell{status: conditions(`"startTime":"2026-05-06T11:00:00Z"`, say("SuccessCriteriaMet", "True", "S", "enough")), state: readiness.InProgress}, "the Job isn't complete yet: enough"},
		{"suspended before its controller saw it", "batch/v1", "Job", cell{spec: `{"suspend":true}`, state: readiness.InProgress}, "the Job is suspended and hasn't started"},

		{"a claim that grows", "v1", "PersistentVolumeClaim", cell{status: conditions(`"phase":"Bound"`, say("FileSystemResizePending", "True", "", "waiting for a Pod")), state: readiness.Ready}, "the volume is being resized: its file system grows when a Pod mounts it: waiting for a Pod"},
		{"a claim that can't grow", "v1", "PersistentVolumeClaim", cell{status: conditions(`"phase":"Bound"`, say("Resizing", "True", "", ""), say("NodeResizeError", "True", "", "no space")), state: readiness.Ready}, "the file system of the volume can't be resized: no space"},
		{"a claim that names its volume", "v1", "PersistentVolumeClaim", cell{spec: `{"volumeName":"v"}`, status: `{"phase":"Pending"}`, state: readiness.InProgress}, `the claim isn't bound yet: it waits for the volume "v"`},
		{"a volume's reason", "v1", "PersistentVolume", cell{status: `{"phase":"Failed","reason":"R"}`, state: readiness.Failed}, "R"},

		{"ports that a load balancer can't have", "v1", "Service", cell{spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: conditions("", say("LoadBalancerPortsError", "True", "X", "port taken")), state: readiness.InProgress}, "the load balancer has no address yet: port taken"},
		{"an address that nobody gives", "networking.k8s.io/v1", "Ingress", cell{checker: readiness.Checker{IngressNeedsAddress: true}, status: conditions("", say("Programmed", "False", "X", "no class")), state: readiness.InProgress}, "the Ingress has no address yet: no class"},
		{"too few healthy Pods", "policy/v1", "PodDisruptionBudget", cell{checker: readiness.Checker{BudgetNeedsHealthy: true}, status: conditions(one+`,"desiredHealthy":2`, say("DisruptionAllowed", "False", "InsufficientPods", "none to spare")), state: readiness.InProgress}, "0 of 2 Pods are healthy: none to spare"},
		{"metrics, before the target is known", "autoscaling/v2", "HorizontalPodAutoscaler", cell{status: conditions("", say("ScalingActive", "False", "FailedGetResourceMetric", "no metrics")), state: readiness.InProgress}, "no metrics"},
		{"scaling is switched off", "autoscaling/v2", "HorizontalPodAutoscaler", cell{status: conditions("", say("AbleToScale", "True", "A", "able"), say("ScalingActive", "False", "ScalingDisabled", "target has 0 replicas")), state: readiness.Ready}, "target has 0 replicas"},
		{"what keeps it from being established", "apiextensions.k8s.io/v1", "CustomResourceDefinition", cell{status: conditions("", say("Established", "False", "Installing", "being installed")), state: readiness.InProgress}, "being installed"},

		{"what isn't ready while it reconciles", "example.com/v1", "Release", cell{status: conditions("", say("Reconciling", "True", "Progressing", "revision 2"), say("Ready", "False", "HealthCheckFailed", "Deployment x timed out")), state: readiness.InProgress}, "revision 2: Deployment x timed out"},
		{"one text is said once", "example.com/v1", "Release", cell{status: conditions("", say("Reconciling", "True", "P", "Deployment x timed out"), say("Ready", "False", "P", "Deployment x timed out")), state: readiness.InProgress}, "Deployment x timed out"},
		{"stalled without a word", "example.com/v1", "Release", cell{status: conditions("", say("Stalled", "True", "S", ""), say("Ready", "False", "B", "bad chart")), state: readiness.Failed}, "the object is stalled: bad chart"},
		{"what isn't ready while it progresses", "example.com/v1", "Release", cell{status: conditions("", say("Progressing", "True", "P", "working"), say("Ready", "False", "B", "no disk")), state: readiness.InProgress}, "working: no disk"},
		{"a summary without a word", "example.com/v1", "Release", cell{status: conditions("", `{"type":"Ready","status":"False"}`, say("DatabaseReady", "False", "D", "no disk")), state: readiness.InProgress}, "the condition Ready is not True: no disk"},
		{"a summary without a word beside a fault", "example.com/v1", "Release", cell{status: conditions("", `{"type":"Available","status":"False"}`, say("Degraded", "True", "D", "no disk")), state: readiness.InProgress}, "the condition Available is not True: no disk"},
		{"a summary with words has the last one", "example.com/v1", "Release", cell{status: conditions("", say("Ready", "False", "R", "own"), say("DatabaseReady", "False", "D", "no disk")), state: readiness.InProgress}, "own"},

		{"what holds an object that is being deleted", "v1", "PersistentVolumeClaim", cell{metadata: deleted, state: readiness.Terminating}, "the object is being deleted: it waits for the finalizers kubernetes.io/pvc-protection, example.com/hold"},
		{"finalizers of no text", "v1", "ConfigMap", cell{metadata: `{"deletionTimestamp":"2026-05-06T11:00:00Z","finalizers":[7,null]}`, state: readiness.Terminating}, "the object is being deleted"},
	} {
		t.Run("status 25: "+row.kind+": "+row.reason, func(t *testing.T) {
			t.Parallel()
			result := row.cell.checker.At(row.cell.now, build(t, row.apiVersion, row.kind, row.cell, decodeIntegers))
			assert.Equal(t, row.cell.state, result.State, "%+v", result)
			assert.Equal(t, row.want, result.Message, "%+v", result)
		})
	}
}

// TestRemark has the Ready states of which somebody should know, and some of which nobody needs to.
func TestRemark(t *testing.T) {
	t.Parallel()
	late := readiness.Checker{WaitsForConsumer: func(string) bool { return true }, SuspendedJobReady: true}
	for _, row := range []struct {
		reason, apiVersion, kind string
		cell                     cell
		want                     bool
	}{
		{"a claim that nobody uses yet", "v1", "PersistentVolumeClaim", cell{status: `{"phase":"Pending"}`}, true},
		{"a claim that grows", "v1", "PersistentVolumeClaim", cell{status: conditions(`"phase":"Bound"`, is("Resizing", "True", ""))}, true},
		{"a bound claim", "v1", "PersistentVolumeClaim", cell{status: `{"phase":"Bound"}`}, false},
		{"a paused Deployment", "apps/v1", "Deployment", cell{spec: `{"replicas":0,"paused":true}`, status: `{"observedGeneration":1}`}, true},
		{"a suspended Job", "batch/v1", "Job", cell{spec: `{"suspend":true}`, status: conditions("", is("Suspended", "True", ""))}, true},
		{"a complete Job", "batch/v1", "Job", cell{status: conditions("", is("Complete", "True", ""))}, false},
		{"an object that is there", "v1", "ConfigMap", cell{}, false},
	} {
		result := late.Of(build(t, row.apiVersion, row.kind, row.cell, decodeIntegers))
		assert.Equal(t, readiness.Ready, result.State, "status 25: %s", row.reason)
		assert.Equal(t, row.want, result.Remark, "status 25: %s", row.reason)
	}
}
