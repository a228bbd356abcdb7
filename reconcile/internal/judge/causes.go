package judge

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status/readiness"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	podKind     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}
	jobKind     = schema.GroupKind{Group: "batch", Kind: "Job"}
	workloads   = map[schema.GroupKind]bool{
		{Group: "apps", Kind: "Deployment"}: true, {Group: "apps", Kind: "ReplicaSet"}: true, {Group: "apps", Kind: "DaemonSet"}: true,
		{Kind: "ReplicationController"}: true, statefulSet: true, jobKind: true,
	}
)

// maxClaims bounds the claims of a StatefulSet that are examined.
const maxClaims = 64

// Explain adds the reasons of Pods and claims to the result of a workload that isn't ready. It uses them only if Holds
// reports that they are in memory: nothing is watched or read from the cluster for this.
func (j Judge) Explain(ctx context.Context, live *unstructured.Unstructured, result readiness.Result) readiness.Result {
	known := result.State == readiness.InProgress || result.State == readiness.Failed
	if j.Holds == nil || !known || live == nil || !workloads[live.GroupVersionKind().GroupKind()] {
		return result
	}
	var causes []readiness.Result
	if j.Holds(volumeClaimKind, live.GetNamespace()) {
		causes = append(causes, j.claims(ctx, live, j.Holds(storageClassKind, ""))...)
	}
	if j.Holds(podKind, live.GetNamespace()) {
		causes = append(causes, j.pods(ctx, live)...)
	}
	return result.Because(causes...)
}

// pods returns the results of the Pods of a workload that aren't ready. Failed Pods of a Job always count. Failed Pods
// of other workloads are being replaced, so they count only if no other Pod has a result.
func (j Judge) pods(ctx context.Context, live *unstructured.Unstructured) []readiness.Result {
	pods, err := j.Reader.List(ctx, podKind, live.GetNamespace(), selectorOf(live))
	if err != nil {
		return nil // the Pods only explain the result of the workload
	}
	kind := live.GroupVersionKind().GroupKind()
	var running, ended []readiness.Result
	for _, pod := range pods {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		switch result := j.Checker.At(j.Now(), pod); {
		case result.Ready(), result.State == readiness.Terminating && kind != statefulSet:
		case phase == "Failed" && kind != jobKind:
			ended = append(ended, result)
		default:
			running = append(running, result)
		}
	}
	if len(running) > 0 {
		return running
	}
	return ended
}

// selectorOf returns the selector of a workload. If it is missing or can't be read, the result selects nothing.
func selectorOf(live *unstructured.Unstructured) labels.Selector {
	content, _, _ := unstructured.NestedMap(live.Object, "spec", "selector")
	if live.GetKind() == "ReplicationController" {
		content = map[string]any{"matchLabels": content}
	}
	var selector metav1.LabelSelector
	if runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selector) != nil {
		return labels.Nothing()
	}
	parsed, err := metav1.LabelSelectorAsSelector(&selector)
	if err != nil || parsed.Empty() {
		return labels.Nothing()
	}
	return parsed
}

// claims judges the claims that the Pods of a workload use. A claim that a StatefulSet hasn't made yet is no cause. The
// binding modes of storage classes are considered only if classesHeld is true, because no request should be sent only
// to improve a message.
func (j Judge) claims(ctx context.Context, live *unstructured.Unstructured, classesHeld bool) (results []readiness.Result) {
	named := claimNames(live)
	for i, name := range append(named, templatedClaims(live)...) {
		ref := deploy.Ref{Kind: volumeClaimKind, Namespace: live.GetNamespace(), Name: name}
		claim, err := j.Reader.Get(ctx, ref)
		if err != nil || claim == nil && i >= len(named) {
			continue
		}
		result := j.Checker.At(j.Now(), claim)
		if classesHeld {
			if result, err = j.Object(ctx, claim); err != nil {
				continue
			}
		}
		if claim == nil {
			result.Object = readiness.Object{Kind: volumeClaimKind.Kind, Namespace: ref.Namespace, Name: name}
		}
		results = append(results, result)
	}
	return results
}

// claimNames returns the claims that the Pod template names.
func claimNames(live *unstructured.Unstructured) (names []string) {
	volumes, _, _ := unstructured.NestedSlice(live.Object, "spec", "template", "spec", "volumes")
	for _, volume := range volumes {
		content, _ := volume.(map[string]any)
		if name, _, _ := unstructured.NestedString(content, "persistentVolumeClaim", "claimName"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// templatedClaims returns the claims that a StatefulSet makes for its Pods.
func templatedClaims(live *unstructured.Unstructured) (names []string) {
	templates, _, _ := unstructured.NestedSlice(live.Object, "spec", "volumeClaimTemplates")
	replicas, stated, _ := unstructured.NestedInt64(live.Object, "spec", "replicas")
	if !stated {
		replicas = 1
	}
	first, _, _ := unstructured.NestedInt64(live.Object, "spec", "ordinals", "start")
	for _, template := range templates {
		content, _ := template.(map[string]any)
		name, _, _ := unstructured.NestedString(content, "metadata", "name")
		for i := range min(replicas, maxClaims) {
			names = append(names, fmt.Sprintf("%s-%s-%d", name, live.GetName(), first+i))
		}
	}
	return names
}
