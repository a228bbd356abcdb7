package main

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status"
)

var now = time.Date(2026, 5, 6, 12, 0, 0, 0, time.UTC)

// flip has two states of one condition.
var flip = [...]metav1.Condition{
	{Type: "Condition5", Status: "True", Reason: "Fine", Message: "all is well"},
	{Type: "Condition5", Status: "False", Reason: "Broken", Message: "something is wrong"},
}

// eight returns eight conditions; a benchmark sets one of them.
func eight() []metav1.Condition {
	list := make([]metav1.Condition, 8)
	for i := range list {
		list[i] = metav1.Condition{Type: fmt.Sprintf("Condition%d", i), Status: "True", Reason: "Fine", LastTransitionTime: metav1.NewTime(now)}
	}
	list[5] = flip[0]
	return list
}

// widget is a typed object with conditions.
type widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// unstructuredWidget returns an object with the eight conditions.
func unstructuredWidget() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "w", "namespace": "ns"},
	}}
	for _, c := range eight() {
		status.Conditions(object).Set(now, c)
	}
	return object
}

// deployment is a Deployment that is ready, as an API server holds it.
func deployment() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{
			"name": "web", "namespace": "shop", "generation": int64(3), "uid": "8a7f", "resourceVersion": "123",
			"labels": map[string]any{"app": "web"}, "creationTimestamp": "2026-05-06T11:00:00Z",
		},
		"spec": map[string]any{
			"replicas": int64(3), "progressDeadlineSeconds": int64(600), "revisionHistoryLimit": int64(10),
			"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}},
			"strategy": map[string]any{"type": "RollingUpdate", "rollingUpdate": map[string]any{"maxSurge": "25%", "maxUnavailable": "25%"}},
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"app": "web"}},
				"spec": map[string]any{
					"containers": []any{map[string]any{
						"name": "web", "image": "web:1", "imagePullPolicy": "IfNotPresent",
						"ports":     []any{map[string]any{"containerPort": int64(80), "protocol": "TCP"}},
						"resources": map[string]any{"limits": map[string]any{"cpu": "1", "memory": "1Gi"}},
					}},
					"restartPolicy": "Always", "terminationGracePeriodSeconds": int64(30),
				},
			},
		},
		"status": map[string]any{
			"observedGeneration": int64(3), "replicas": int64(3), "updatedReplicas": int64(3),
			"readyReplicas": int64(3), "availableReplicas": int64(3),
			"conditions": []any{
				condition("Available", "MinimumReplicasAvailable"), condition("Progressing", "NewReplicaSetAvailable"),
			},
		},
	}}
}

func condition(conditionType, reason string) map[string]any {
	return map[string]any{
		"type": conditionType, "status": "True", "reason": reason, "message": "so it is",
		"lastTransitionTime": "2026-05-06T11:01:00Z", "lastUpdateTime": "2026-05-06T11:01:00Z",
	}
}

// rollout returns an application of n components in no particular order, a tenth of which aren't deployed yet.
func rollout(n int) status.Application {
	state := &status.ComponentState{Unstarted: map[string]string{}, Messages: map[string]string{}}
	for i := range n {
		name := fmt.Sprintf("component-%d", i*7919%n)
		state.All = append(state.All, name)
		switch {
		case i%10 > 0:
			state.Verified = append(state.Verified, name)
		case i%20 > 0:
			state.Unverified = append(state.Unverified, name)
			state.Messages[name] = "1 of 3 replicas are ready"
		default:
			state.Unstarted[name] = "waits for another one"
		}
	}
	ready, updating := status.ForEnd(nil, false)
	return status.Application{Ready: ready, Updating: updating, Generation: 1, Version: "1.0", Components: state}
}
