package readiness_test

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/status/readiness"
)

func ExampleOf() {
	deployment := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1",
		"kind":       "Deployment",
		"metadata":   map[string]any{"generation": int64(2)},
		"spec":       map[string]any{"replicas": int64(3)},
		"status": map[string]any{
			"observedGeneration": int64(2), "replicas": int64(3), "updatedReplicas": int64(3), "readyReplicas": int64(1),
		},
	}}
	result := readiness.Of(deployment)
	fmt.Println(result.State, result.Reason, "-", result.Message)
	fmt.Println(result.Fields)
	fmt.Println(readiness.Of(nil).State)
	// Output:
	// InProgress LessReady - 1 of 3 replicas are ready
	// [status.readyReplicas spec.replicas]
	// NotFound
}

func ExampleChecker_At() {
	pod := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Pod",
		"status": map[string]any{
			"phase": "Pending",
			"conditions": []any{map[string]any{
				"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
				"message": "0/3 nodes are available", "lastTransitionTime": "2026-05-06T11:59:00Z",
			}},
		},
	}}
	now := time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)
	fmt.Println(readiness.Checker{}.Of(pod).State)
	fmt.Println(readiness.Checker{}.At(now, pod).State)
	// Output:
	// InProgress
	// Failed
}

func ExampleChecker_Of() {
	widget := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": "Widget"}}
	checker := readiness.Checker{Registry: readiness.Registry{{Group: "example.com", Kind: "Widget"}: {SetsReady: true}}}
	fmt.Println(readiness.Of(widget).State)
	fmt.Println(checker.Of(widget).State)
	// Output:
	// Ready
	// InProgress
}

func ExampleResult_Ready() {
	configMap := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	fmt.Println(readiness.Of(configMap).Ready())
	// Output: true
}

func ExampleChecker_NeedsContent() {
	checker := readiness.Checker{}
	fmt.Println(checker.NeedsContent(schema.GroupKind{Kind: "Secret"}))
	fmt.Println(checker.NeedsContent(schema.GroupKind{Group: "apps", Kind: "Deployment"}))
	fmt.Println(checker.Of(map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "key"}}).State)
	// Output:
	// false
	// true
	// Ready
}
