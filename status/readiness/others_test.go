package readiness_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/operkit/operkit/status/readiness"
)

func TestPersistentVolumeClaim(t *testing.T) {
	waits := readiness.Checker{WaitsForConsumer: func(class string) bool { return class == "local" }}
	always := readiness.Checker{WaitsForConsumer: func(string) bool { return true }}
	run(t, "v1", "PersistentVolumeClaim", []cell{
		{name: "status 25: Lost", status: `{"phase":"Lost"}`, state: readiness.Failed, reason: "ClaimLost"},
		{name: "status 25: Pending", status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "ClaimPending"},
		{name: "status 25: Pending, its class waits for a Pod", checker: waits, spec: `{"storageClassName":"local"}`, status: `{"phase":"Pending"}`, state: readiness.Ready, reason: "WaitForFirstConsumer"},
		{name: "status 25: Pending, its class doesn't wait", checker: waits, spec: `{"storageClassName":"net"}`, status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "ClaimPending"},
		{name: "status 25: Pending, the default class", checker: waits, status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "ClaimPending"},
		{name: "status 25: Pending, of no class, which isn't the default class", checker: always, spec: `{"storageClassName":""}`, status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "ClaimPending"},
		{name: "status 25: Pending, the default class waits", checker: always, status: `{"phase":"Pending"}`, state: readiness.Ready, reason: "WaitForFirstConsumer"},
		{name: "status 25: a bound claim whose file system is to grow is usable", status: conditions(`"phase":"Bound"`, is("FileSystemResizePending", "True", "")), state: readiness.Ready, reason: "FileSystemResizePending"},
		{name: "status 25: a bound claim whose volume grows is usable", status: conditions(`"phase":"Bound"`, is("Resizing", "True", "")), state: readiness.Ready, reason: "Resizing"},
		{name: "status 25: a volume that can't grow is usable as it is", status: conditions(`"phase":"Bound"`, is("Resizing", "True", ""), is("ControllerResizeError", "True", "")), state: readiness.Ready, reason: "ControllerResizeError"},
		{name: "status 25: a lost claim isn't usable, whatever it grows to", status: conditions(`"phase":"Lost"`, is("Resizing", "True", "")), state: readiness.Failed, reason: "ClaimLost"},
		{name: "status 25: Pending, it names its volume: no Pod is waited for", checker: always, spec: `{"volumeName":"v"}`, status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "ClaimPending"},
		{name: "status 25: Pending, a Pod uses it", checker: always, metadata: `{"generation":1,"annotations":{"volume.kubernetes.io/selected-node":"n"}}`, status: `{"phase":"Pending"}`, state: readiness.Ready, reason: "WaitForFirstConsumer"},
		{name: "status 25: Pending, its class is named by the old annotation", checker: waits, metadata: `{"generation":1,"annotations":{"volume.beta.kubernetes.io/storage-class":"local"}}`, spec: `{"storageClassName":"net"}`, status: `{"phase":"Pending"}`, state: readiness.Ready, reason: "WaitForFirstConsumer"},
		{name: "status 25: grown", status: conditions(`"phase":"Bound"`, is("Resizing", "False", "")), state: readiness.Ready, reason: "ClaimBound"},
		{name: "status 25: Bound", status: `{"phase":"Bound"}`, state: readiness.Ready, reason: "ClaimBound"},
		{name: "status 25: no phase", state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "status 25: a phase that no cell names", status: `{"phase":"Odd"}`, state: readiness.Unknown, reason: "PhaseUnknown"},
	})
}

func TestPersistentVolume(t *testing.T) {
	run(t, "v1", "PersistentVolume", []cell{
		{name: "status 25: Failed", status: `{"phase":"Failed","message":"own words"}`, state: readiness.Failed, reason: "VolumeFailed"},
		{name: "status 25: Pending", status: `{"phase":"Pending"}`, state: readiness.InProgress, reason: "VolumePending"},
		{name: "status 25: Available", status: `{"phase":"Available"}`, state: readiness.Ready, reason: "VolumeAvailable"},
		{name: "status 25: Bound", status: `{"phase":"Bound"}`, state: readiness.Ready, reason: "VolumeBound"},
		{name: "status 25: Released", status: `{"phase":"Released"}`, state: readiness.Ready, reason: "VolumeReleased"},
		{name: "status 25: no phase", state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "status 25: a phase that no cell names", status: `{"phase":"Odd"}`, state: readiness.Unknown, reason: "PhaseUnknown"},
	})
}

func TestService(t *testing.T) {
	run(t, "v1", "Service", []cell{
		{name: "status 25: no cluster IP, the type is ClusterIP by default", state: readiness.InProgress, reason: "NoClusterIP"},
		{name: "status 25: an empty cluster IP", spec: `{"type":"NodePort","clusterIP":""}`, state: readiness.InProgress, reason: "NoClusterIP"},
		{name: "status 25: a cluster IP", spec: `{"clusterIP":"10.0.0.1"}`, state: readiness.Ready, reason: "ServiceReady"},
		{name: "status 25: headless", spec: `{"clusterIP":"None"}`, state: readiness.Ready, reason: "ServiceReady"},
		{name: "status 25: ExternalName", spec: `{"type":"ExternalName"}`, state: readiness.Ready, reason: "ServiceReady"},
		{name: "status 25: LoadBalancer without an address", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, state: readiness.InProgress, reason: "NoAddress"},
		{name: "status 25: LoadBalancer with an empty list", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: `{"loadBalancer":{"ingress":[]}}`, state: readiness.InProgress, reason: "NoAddress"},
		{name: "status 25: LoadBalancer, the first one counts", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: `{"loadBalancer":{"ingress":[{"ports":[]},{"ip":"1.2.3.4"}]}}`, state: readiness.InProgress, reason: "NoAddress"},
		{name: "status 25: LoadBalancer with an IP", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`, state: readiness.Ready, reason: "ServiceReady"},
		{name: "status 25: LoadBalancer with a host name only", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: `{"loadBalancer":{"ingress":[{"hostname":"a.example"}]}}`, state: readiness.Ready, reason: "ServiceReady"},
		{name: "status 25: LoadBalancer without a cluster IP", spec: `{"type":"LoadBalancer"}`, status: `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`, state: readiness.InProgress, reason: "NoClusterIP"},
		{name: "a load balancer of another shape", spec: `{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, status: `{"loadBalancer":{"ingress":[null]}}`, state: readiness.InProgress, reason: "NoAddress"},
	})
}

func TestIngress(t *testing.T) {
	needs := readiness.Checker{IngressNeedsAddress: true}
	run(t, "networking.k8s.io/v1", "Ingress", []cell{
		{name: "status 25: present", state: readiness.Ready, reason: "Present"},
		{name: "status 25: an address is required", checker: needs, state: readiness.InProgress, reason: "NoAddress"},
		{name: "status 25: an address is required and there", checker: needs, status: `{"loadBalancer":{"ingress":[{"hostname":"a.example"}]}}`, state: readiness.Ready, reason: "Present"},
	})
}

func TestPodDisruptionBudget(t *testing.T) {
	needs := readiness.Checker{BudgetNeedsHealthy: true}
	run(t, "policy/v1", "PodDisruptionBudget", []cell{
		{name: "status 25: sync failed, needs no observed generation", status: conditions("", is("DisruptionAllowed", "False", "SyncFailed")), state: readiness.Failed, reason: "SyncFailed"},
		{name: "status 25: no disruption allowed for another reason", status: conditions(`"observedGeneration":1`, is("DisruptionAllowed", "False", "InsufficientPods")), state: readiness.Ready, reason: "BudgetObserved"},
		{name: "status 25: not observed", state: readiness.InProgress, reason: "ObservedGenerationMissing"},
		{name: "status 25: observed", status: `{"observedGeneration":1,"desiredHealthy":2}`, state: readiness.Ready, reason: "BudgetObserved"},
		{name: "status 25: health is required", checker: needs, status: `{"observedGeneration":1,"desiredHealthy":2,"currentHealthy":1}`, state: readiness.InProgress, reason: "LessHealthy"},
		{name: "status 25: health is required and there", checker: needs, status: `{"observedGeneration":1,"desiredHealthy":2,"currentHealthy":2}`, state: readiness.Ready, reason: "BudgetObserved"},
	})
}

func TestCustomResourceDefinition(t *testing.T) {
	accepted, established := is("NamesAccepted", "True", "NoConflicts"), is("Established", "True", "InitialNamesAccepted")
	run(t, "apiextensions.k8s.io/v1", "CustomResourceDefinition", []cell{
		{name: "status 25: names taken", status: conditions("", is("NamesAccepted", "False", "PluralConflict")), state: readiness.Failed, reason: "PluralConflict"},
		{name: "status 25: names taken after it was established", status: conditions("", established, is("NamesAccepted", "False", "PluralConflict")), state: readiness.Failed, reason: "PluralConflict"},
		{name: "status 25: not established", status: conditions("", accepted, is("Established", "False", "NotAccepted")), state: readiness.Failed, reason: "NotAccepted"},
		{name: "status 25: installing", status: conditions("", accepted, is("Established", "False", "Installing")), state: readiness.InProgress, reason: "Installing"},
		{name: "status 25: NamesAccepted absent", status: conditions("", established), state: readiness.InProgress, reason: "NamesNotAccepted"},
		{name: "status 25: Established absent", status: conditions("", accepted), state: readiness.InProgress, reason: "NotEstablished"},
		{name: "status 25: Established Unknown", status: conditions("", accepted, is("Established", "Unknown", "X")), state: readiness.InProgress, reason: "X"},
		{name: "status 25: no status", state: readiness.InProgress, reason: "NamesNotAccepted"},
		{name: "status 25: established", status: conditions("", established, accepted), state: readiness.Ready, reason: "Established"},
		{name: "status 25: a schema that isn't structural is a warning only", status: conditions("", established, accepted, is("NonStructuralSchema", "True", "Violations")), state: readiness.Ready, reason: "Established"},
		{name: "status 24: established at an older generation", metadata: second, status: conditions("", accepted, old("Established", "E")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 24: names accepted at an older generation", metadata: second, status: conditions("", established, old("NamesAccepted", "N")), state: readiness.InProgress, reason: "ConditionOutdated"},
	})
}

func TestAPIService(t *testing.T) {
	run(t, "apiregistration.k8s.io/v1", "APIService", []cell{
		{name: "status 25: Available absent", state: readiness.InProgress, reason: "NotAvailable"},
		{name: "status 25: not available, any reason", status: conditions("", is("Available", "False", "MissingEndpoints")), state: readiness.InProgress, reason: "MissingEndpoints"},
		{name: "status 25: available", status: conditions("", is("Available", "True", "Passed")), state: readiness.Ready, reason: "Available"},
		{name: "status 24: available at an older generation", metadata: second, status: conditions("", old("Available", "Passed")), state: readiness.InProgress, reason: "ConditionOutdated"},
	})
}

func TestHorizontalPodAutoscaler(t *testing.T) {
	able, active := is("AbleToScale", "True", "ReadyForNewScale"), is("ScalingActive", "True", "ValidMetricFound")
	run(t, "autoscaling/v2", "HorizontalPodAutoscaler", []cell{
		{name: "status 25: an invalid selector", status: conditions("", able, is("ScalingActive", "False", "InvalidSelector")), state: readiness.Failed, reason: "InvalidSelector"},
		{name: "status 25: AbleToScale absent", status: conditions("", active), state: readiness.InProgress, reason: "NotAbleToScale"},
		{name: "status 25: its target isn't there yet", status: conditions("", is("AbleToScale", "False", "FailedGetScale"), active), state: readiness.InProgress, reason: "FailedGetScale"},
		{name: "status 25: ScalingActive absent", status: conditions("", able), state: readiness.InProgress, reason: "ScalingNotActive"},
		{name: "status 25: missing metrics", status: conditions("", able, is("ScalingActive", "False", "FailedGetResourceMetric")), state: readiness.InProgress, reason: "FailedGetResourceMetric"},
		{name: "status 25: scaling switched off", status: conditions("", able, is("ScalingActive", "False", "ScalingDisabled")), state: readiness.Ready, reason: "ScalingDisabled"},
		{name: "status 25: scaling switched off, not able", status: conditions("", is("AbleToScale", "False", "X"), is("ScalingActive", "False", "ScalingDisabled")), state: readiness.InProgress, reason: "X"},
		{name: "status 25: active", status: conditions("", able, active), state: readiness.Ready, reason: "ValidMetricFound"},
		{name: "status 24: able at an older generation", metadata: second, status: conditions("", active, old("AbleToScale", "A")), state: readiness.InProgress, reason: "ConditionOutdated"},
		{name: "status 24: active at an older generation", metadata: second, status: conditions("", able, old("ScalingActive", "A")), state: readiness.InProgress, reason: "ConditionOutdated"},
	})
}

func TestNamespace(t *testing.T) {
	run(t, "v1", "Namespace", []cell{
		{name: "status 25: no phase", state: readiness.InProgress, reason: "PhaseMissing"},
		{name: "status 25: active", status: `{"phase":"Active"}`, state: readiness.Ready, reason: "NamespaceActive"},
		{name: "status 25: terminating by its phase", status: `{"phase":"Terminating"}`, state: readiness.Terminating, reason: "Terminating"},
		{name: "status 25: a phase that no cell names", status: `{"phase":"Odd"}`, state: readiness.Unknown, reason: "PhaseUnknown"},
	})
	leaving := conditions(`"phase":"Terminating"`,
		`{"type":"NamespaceDeletionDiscoveryFailure","status":"True","message":"no discovery"}`,
		`{"type":"NamespaceDeletionContentFailure","status":"False","message":"all was deleted"}`,
		`{"type":"NamespaceContentRemaining","status":"True","message":"pods. has 2 resource instances"}`,
		`{"type":"NamespaceFinalizersRemaining","status":"True","message":"a finalizer"}`)
	for name, metadata := range map[string]string{"by its phase": `{}`, "by its deletion timestamp": `{"deletionTimestamp":"2026-05-06T11:00:00Z"}`} {
		t.Run("status 25: what keeps it from going away, "+name, func(t *testing.T) {
			t.Parallel()
			result := readiness.Of(build(t, "v1", "Namespace", cell{metadata: metadata, status: leaving}, decodeIntegers))
			assert.Equal(t, readiness.Terminating, result.State)
			assert.Equal(t, "no discovery; pods. has 2 resource instances", result.Message)
		})
	}
}

func TestNode(t *testing.T) {
	run(t, "v1", "Node", []cell{
		{name: "status 25: Ready absent", state: readiness.InProgress, reason: "NodeNotReady"},
		{name: "status 25: Ready Unknown", status: conditions("", is("Ready", "Unknown", "NodeStatusUnknown")), state: readiness.InProgress, reason: "NodeStatusUnknown"},
		{name: "status 25: ready", status: conditions("", is("Ready", "True", "KubeletReady")), state: readiness.Ready, reason: "KubeletReady"},
		{name: "status 24: ready at an older generation", metadata: second, status: conditions("", old("Ready", "KubeletReady")), state: readiness.InProgress, reason: "ConditionOutdated"},
	})
}

// TestHorizontalPodAutoscalerOfV1 has its conditions where autoscaling/v1 has
// room for them.
func TestHorizontalPodAutoscalerOfV1(t *testing.T) {
	annotated := func(list string) string {
		return `{"generation":1,"annotations":{"autoscaling.alpha.kubernetes.io/conditions":` + strconv.Quote(list) + `}}`
	}
	able, active := is("AbleToScale", "True", "ReadyForNewScale"), is("ScalingActive", "True", "ValidMetricFound")
	run(t, "autoscaling/v1", "HorizontalPodAutoscaler", []cell{
		{name: "status 25: ready by the annotation", metadata: annotated("[" + able + "," + active + "]"), state: readiness.Ready, reason: "ValidMetricFound"},
		{name: "status 25: not yet by the annotation", metadata: annotated("[" + able + "]"), state: readiness.InProgress, reason: "ScalingNotActive"},
		{name: "failed by the annotation", metadata: annotated("[" + is("ScalingActive", "False", "InvalidSelector") + "]"), state: readiness.Failed, reason: "InvalidSelector"},
		{name: "an annotation that is no list", metadata: annotated("{"), state: readiness.InProgress, reason: "NotAbleToScale"},
		{name: "no annotation", state: readiness.InProgress, reason: "NotAbleToScale"},
	})
}
