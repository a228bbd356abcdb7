package reconciletest

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// workloads return the status of an object that is complete, by kind.
var workloads = map[schema.GroupKind]func(*simulator, *unstructured.Unstructured) map[string]any{
	{Group: "apps", Kind: "Deployment"}:  deployment,
	{Group: "apps", Kind: "StatefulSet"}: statefulSet,
	{Group: "apps", Kind: "DaemonSet"}:   daemonSet,
	{Group: "apps", Kind: "ReplicaSet"}:  replicaSet,
	{Group: "batch", Kind: "Job"}:        job,
	{Kind: "Pod"}:                        pod,
	{Kind: "Service"}:                    service,
	{Kind: "PersistentVolumeClaim"}:      claim,
}

// failures return the status of an object that has failed, by kind.
var failures = map[string]func(*unstructured.Unstructured, string) map[string]any{
	"Deployment": func(obj *unstructured.Unstructured, message string) map[string]any {
		return map[string]any{"observedGeneration": obj.GetGeneration(), "conditions": []any{
			condition("Available", "False", "MinimumReplicasUnavailable", ""),
			condition("Progressing", "False", "ProgressDeadlineExceeded", message),
		}}
	},
	"Job": func(_ *unstructured.Unstructured, message string) map[string]any {
		return map[string]any{"failed": int64(1), "conditions": []any{condition("Failed", "True", "BackoffLimitExceeded", message)}}
	},
	"Pod": func(_ *unstructured.Unstructured, message string) map[string]any {
		return map[string]any{"phase": "Failed", "reason": "Error", "message": message, "conditions": []any{condition("Ready", "False", "PodFailed", "")}}
	},
	"PersistentVolumeClaim": func(*unstructured.Unstructured, string) map[string]any {
		return map[string]any{"phase": "Lost"}
	},
}

func condition(conditionType, status, reason, message string) map[string]any {
	c := map[string]any{"type": conditionType, "status": status}
	if reason != "" {
		c["reason"] = reason
	}
	if message != "" {
		c["message"] = message
	}
	return c
}

// wanted returns a number in the spec, such as replicas.
func wanted(obj *unstructured.Unstructured, field string) int64 {
	n, found, err := unstructured.NestedInt64(obj.Object, "spec", field)
	if err != nil || !found {
		return 1
	}
	return n
}

// counted returns a status in which all counts are n.
func counted(obj *unstructured.Unstructured, n int64, counts ...string) map[string]any {
	status := map[string]any{"observedGeneration": obj.GetGeneration()}
	for _, count := range counts {
		status[count] = n
	}
	return status
}

func deployment(_ *simulator, obj *unstructured.Unstructured) map[string]any {
	status := counted(obj, wanted(obj, "replicas"), "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
	status["conditions"] = []any{
		condition("Available", "True", "MinimumReplicasAvailable", ""),
		condition("Progressing", "True", "NewReplicaSetAvailable", ""),
	}
	return status
}

func statefulSet(_ *simulator, obj *unstructured.Unstructured) map[string]any {
	status := counted(obj, wanted(obj, "replicas"), "replicas", "updatedReplicas", "currentReplicas", "readyReplicas", "availableReplicas")
	revision := fmt.Sprintf("%s-%d", obj.GetName(), obj.GetGeneration())
	status["currentRevision"], status["updateRevision"] = revision, revision
	return status
}

// daemonSet assumes a cluster with one node.
func daemonSet(_ *simulator, obj *unstructured.Unstructured) map[string]any {
	status := counted(obj, 1, "desiredNumberScheduled", "currentNumberScheduled", "updatedNumberScheduled", "numberReady", "numberAvailable")
	status["numberMisscheduled"] = int64(0)
	return status
}

func replicaSet(_ *simulator, obj *unstructured.Unstructured) map[string]any {
	return counted(obj, wanted(obj, "replicas"), "replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
}

// job returns the status of a Job: it completes immediately, unless it is suspended.
func job(s *simulator, obj *unstructured.Unstructured) map[string]any {
	if suspended, _, _ := unstructured.NestedBool(obj.Object, "spec", "suspend"); suspended {
		return map[string]any{"conditions": []any{condition("Suspended", "True", "JobSuspended", "")}}
	}
	status := map[string]any{"succeeded": wanted(obj, "completions"), "failed": nil, "conditions": []any{
		condition("SuccessCriteriaMet", "True", "CompletionsReached", ""),
		condition("Complete", "True", "CompletionsReached", ""),
	}}
	maps.Copy(status, s.since(obj, "startTime", "completionTime"))
	return status
}

func pod(s *simulator, obj *unstructured.Unstructured) map[string]any {
	status := map[string]any{"phase": "Running", "reason": nil, "message": nil, "conditions": []any{
		condition("PodScheduled", "True", "", ""), condition("Initialized", "True", "", ""),
		condition("ContainersReady", "True", "", ""), condition("Ready", "True", "", ""),
	}}
	maps.Copy(status, s.since(obj, "startTime"))
	if address, _, _ := unstructured.NestedString(obj.Object, "status", "podIP"); address == "" {
		status["podIP"] = "10.244." + s.nextAddress()
	}
	return status
}

// since returns time fields of the status; existing values stay.
func (s *simulator) since(obj *unstructured.Unstructured, fields ...string) map[string]any {
	times := map[string]any{}
	for _, field := range fields {
		if at, _, _ := unstructured.NestedString(obj.Object, "status", field); at == "" {
			times[field] = s.clock.now().UTC().Format("2006-01-02T15:04:05Z")
		}
	}
	return times
}

// service assigns an address to a load balancer.
func service(s *simulator, obj *unstructured.Unstructured) map[string]any {
	if kind, _, _ := unstructured.NestedString(obj.Object, "spec", "type"); kind != "LoadBalancer" {
		return nil
	}
	if given, _, _ := unstructured.NestedSlice(obj.Object, "status", "loadBalancer", "ingress"); len(given) > 0 {
		return nil
	}
	return map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "10.200." + s.nextAddress()}}}}
}

func claim(_ *simulator, obj *unstructured.Unstructured) map[string]any {
	status := map[string]any{"phase": "Bound"}
	if modes, found, _ := unstructured.NestedSlice(obj.Object, "spec", "accessModes"); found {
		status["accessModes"] = modes
	}
	if capacity, found, _ := unstructured.NestedMap(obj.Object, "spec", "resources", "requests"); found {
		status["capacity"] = capacity
	}
	return status
}
