package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// statusOf returns the status of a set with these Pods. err is what went wrong, nil for nothing.
func statusOf(set *v1.CatSet, pods numbered, err error) v1.CatSetStatus {
	status, revision := v1.CatSetStatus{Replicas: len(pods)}, revisionOf(set)
	var unready []string
	for _, number := range slices.Sorted(maps.Keys(pods)) {
		if pods[number].Labels[revisionLabel] == revision {
			status.Updated++
		}
		if isHealthy(pods[number]) {
			status.Ready++
		} else {
			unready = append(unready, pods[number].Name)
		}
	}
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", Message: fmt.Sprintf(
		"%d of %d Pods ready, %d updated", status.Ready, set.Spec.Replicas, status.Updated)}
	if len(unready) > 0 {
		ready.Message = "waiting for " + strings.Join(unready, ", ") + "; " + ready.Message
	}
	switch n := set.Spec.Replicas; {
	case err != nil:
		ready.Reason, ready.Message = "Error", err.Error()
	case set.DeletionTimestamp != nil:
		ready.Reason, ready.Message = "Deleting", fmt.Sprintf("%d Pods are left", status.Replicas)
	case status.Replicas == n && status.Ready == n && status.Updated == n:
		ready.Status, ready.Reason = metav1.ConditionTrue, "Complete"
	}
	status.Conditions = []metav1.Condition{ready}
	return status
}
