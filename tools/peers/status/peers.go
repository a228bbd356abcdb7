package main

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// convertAndSet sets a condition of an unstructured object in the way that is usual without this module.
func convertAndSet(object *unstructured.Unstructured, c metav1.Condition) (map[string]any, error) {
	var typed widget
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &typed); err != nil {
		return nil, err
	}
	meta.SetStatusCondition(&typed.Status.Conditions, c)
	return runtime.DefaultUnstructuredConverter.ToUnstructured(&typed)
}

// rolledOut makes the checks of kubectl rollout status.
func rolledOut(object *unstructured.Unstructured) (bool, error) {
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &d); err != nil {
		return false, err
	}
	if d.Generation > d.Status.ObservedGeneration {
		return false, nil
	}
	for i := range d.Status.Conditions {
		if c := &d.Status.Conditions[i]; c.Type == appsv1.DeploymentProgressing && c.Reason == "ProgressDeadlineExceeded" {
			return false, nil
		}
	}
	switch {
	case d.Spec.Replicas != nil && d.Status.UpdatedReplicas < *d.Spec.Replicas,
		d.Status.Replicas > d.Status.UpdatedReplicas,
		d.Status.AvailableReplicas < d.Status.UpdatedReplicas:
		return false, nil
	}
	return true, nil
}
