package main

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/readiness"
)

// TestRealTypes judges objects of the real Go types, as a client decodes them: without a kind of their own. They have
// to be judged as the same objects are that name their kind.
func TestRealTypes(t *testing.T) {
	t.Parallel()
	const observed = `"metadata":{"name":"it","namespace":"ns","generation":2,"labels":{"a":"b"}}`
	const annotated = `"metadata":{"name":"it","annotations":{"autoscaling.alpha.kubernetes.io/conditions":"[{\"type\":\"AbleToScale\",\"status\":\"True\"},{\"type\":\"ScalingActive\",\"status\":\"True\",\"reason\":\"Valid\"}]"}}`
	for _, row := range []struct {
		apiVersion, kind string
		typed            any
		content          string
		state            readiness.State
		reason           string
	}{
		{"apps/v1", "Deployment", &appsv1.Deployment{}, observed + `,"spec":{"replicas":3},"status":{"observedGeneration":2,"replicas":3,"updatedReplicas":3,"readyReplicas":1}`, readiness.InProgress, "LessReady"},
		{"apps/v1", "Deployment", &appsv1.Deployment{}, observed + `,"spec":{"replicas":1},"status":{"observedGeneration":2,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded"}]}`, readiness.Failed, "ProgressDeadlineExceeded"},
		{"apps/v1", "StatefulSet", &appsv1.StatefulSet{}, observed + `,"spec":{"replicas":1,"updateStrategy":{"type":"OnDelete"}},"status":{"observedGeneration":2,"replicas":1,"readyReplicas":1,"currentRevision":"a","updateRevision":"b"}`, readiness.Ready, "Replicas"},
		{"apps/v1", "DaemonSet", &appsv1.DaemonSet{}, observed + `,"status":{"observedGeneration":2,"desiredNumberScheduled":2,"currentNumberScheduled":2,"numberAvailable":1}`, readiness.InProgress, "LessAvailable"},
		{"apps/v1", "ReplicaSet", &appsv1.ReplicaSet{}, observed + `,"spec":{"replicas":1},"status":{"observedGeneration":2,"replicas":1,"readyReplicas":1,"availableReplicas":1,"fullyLabeledReplicas":1}`, readiness.Ready, "Replicas"},
		{"v1", "ReplicationController", &corev1.ReplicationController{}, observed + `,"spec":{"replicas":2},"status":{"observedGeneration":2,"fullyLabeledReplicas":1}`, readiness.InProgress, "LessLabeled"},
		{"v1", "Pod", &corev1.Pod{}, observed + `,"status":{"phase":"Failed","reason":"Evicted"}`, readiness.Failed, ""},
		{"v1", "Pod", &corev1.Pod{}, observed + `,"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}`, readiness.Ready, ""},
		{"batch/v1", "Job", &batchv1.Job{}, observed + `,"status":{"conditions":[{"type":"Failed","status":"True","reason":"BackoffLimitExceeded"}]}`, readiness.Failed, "BackoffLimitExceeded"},
		{"batch/v1", "CronJob", &batchv1.CronJob{}, observed, readiness.Ready, "Present"},
		{"v1", "PersistentVolumeClaim", &corev1.PersistentVolumeClaim{}, observed + `,"status":{"phase":"Lost"}`, readiness.Failed, "ClaimLost"},
		{"v1", "PersistentVolume", &corev1.PersistentVolume{}, observed + `,"status":{"phase":"Pending"}`, readiness.InProgress, "VolumePending"},
		{"storage.k8s.io/v1", "StorageClass", &storagev1.StorageClass{}, observed + `,"provisioner":"p"`, readiness.Ready, "Present"},
		{"v1", "Service", &corev1.Service{}, observed + `,"spec":{"type":"LoadBalancer","clusterIP":"10.0.0.1"}`, readiness.InProgress, ""},
		{"v1", "Service", &corev1.Service{}, observed + `,"spec":{"type":"ClusterIP","clusterIP":"10.0.0.1"}`, readiness.Ready, ""},
		{"networking.k8s.io/v1", "Ingress", &networkingv1.Ingress{}, observed + `,"spec":{"rules":[{"host":"a"}]}`, readiness.Ready, ""},
		{"networking.k8s.io/v1", "NetworkPolicy", &networkingv1.NetworkPolicy{}, observed, readiness.Ready, "Present"},
		{"discovery.k8s.io/v1", "EndpointSlice", &discoveryv1.EndpointSlice{}, observed + `,"addressType":"IPv4","endpoints":[]`, readiness.Ready, "Present"},
		{"policy/v1", "PodDisruptionBudget", &policyv1.PodDisruptionBudget{}, observed + `,"status":{"observedGeneration":2,"currentHealthy":1,"desiredHealthy":2}`, readiness.Ready, "BudgetObserved"},
		{"autoscaling/v1", "HorizontalPodAutoscaler", &autoscalingv1.HorizontalPodAutoscaler{}, annotated, readiness.Ready, "Valid"},
		{"autoscaling/v2", "HorizontalPodAutoscaler", &autoscalingv2.HorizontalPodAutoscaler{}, observed + `,"status":{"conditions":[{"type":"AbleToScale","status":"True"},{"type":"ScalingActive","status":"False","reason":"FailedGetResourceMetric"}]}`, readiness.InProgress, "FailedGetResourceMetric"},
		{"v1", "Namespace", &corev1.Namespace{}, observed + `,"status":{"phase":"Active"}`, readiness.Ready, ""},
		{"v1", "Node", &corev1.Node{}, observed + `,"status":{"conditions":[{"type":"Ready","status":"Unknown","reason":"NodeStatusUnknown"}]}`, readiness.InProgress, "NodeStatusUnknown"},
		{"v1", "Secret", &corev1.Secret{}, observed, readiness.Ready, "Present"},
		{"rbac.authorization.k8s.io/v1", "ClusterRole", &rbacv1.ClusterRole{}, observed + `,"rules":[{"verbs":["get"]}]`, readiness.Ready, "Present"},
	} {
		t.Run(row.kind+" of "+row.apiVersion+": "+row.reason, func(t *testing.T) {
			t.Parallel()
			if err := json.Unmarshal([]byte("{"+row.content+"}"), row.typed); err != nil {
				t.Fatal(err)
			}
			whole := &unstructured.Unstructured{}
			if err := whole.UnmarshalJSON(fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,%s}`, row.apiVersion, row.kind, row.content)); err != nil {
				t.Fatal(err)
			}
			got, want := readiness.Of(row.typed), readiness.Of(whole)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("typed %+v\nunstructured %+v", got, want)
			}
			if got.State != row.state || row.reason != "" && got.Reason != row.reason {
				t.Errorf("got %s %s, want %s %s", got.State, got.Reason, row.state, row.reason)
			}
			if list := got.Object.Kind; list != row.kind {
				t.Errorf("the kind is %q", list)
			}
		})
	}
	t.Run("a list", func(t *testing.T) {
		t.Parallel()
		if got := readiness.Of(&corev1.PodList{Items: make([]corev1.Pod, 1)}); got.Reason != "IsAList" {
			t.Errorf("%+v", got)
		}
	})
}
