package reconcile

import (
	"testing"

	"github.com/operkit/operkit/deploy"
	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// workload is an object whose Pods have the label app=web and use the claim data.
func workload(kind schema.GroupVersionKind, selector map[string]any) *unstructured.Unstructured {
	o := object(kind, "web")
	o.Object["spec"] = map[string]any{
		"replicas": int64(1), "selector": selector,
		"template": map[string]any{"spec": map[string]any{"volumes": []any{
			map[string]any{"name": "d", "persistentVolumeClaim": map[string]any{"claimName": "data"}}, map[string]any{"name": "e"}, "odd",
		}}},
	}
	return o
}

func podOf(name, app string, status map[string]any) *unstructured.Unstructured {
	pod := object(podKind, name)
	pod.SetNamespace("shop")
	pod.SetLabels(map[string]string{"app": app})
	pod.Object["status"] = status
	return pod
}

func claimIn(name, phase string) *unstructured.Unstructured {
	claim := claimOf(name, "")
	claim.SetNamespace("shop")
	claim.Object["status"] = map[string]any{"phase": phase}
	return claim
}

// TestCauses has the message of a workload that isn't ready, beside Pods and claims.
func TestCauses(t *testing.T) {
	t.Parallel()
	pulling := map[string]any{"phase": "Pending", "containerStatuses": []any{
		map[string]any{"name": "c", "state": map[string]any{"waiting": map[string]any{"reason": "ImagePullBackOff", "message": "no such image"}}},
	}}
	evicted := map[string]any{"phase": "Failed", "reason": "Evicted", "message": "low on memory"}
	starting := map[string]any{"phase": "Pending"}
	running := map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	byApp := map[string]any{"matchLabels": map[string]any{"app": "web"}}
	set := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "StatefulSet"}
	templated := workload(set, byApp)
	assert.NoError(t, unstructured.SetNestedSlice(templated.Object, []any{map[string]any{"metadata": map[string]any{"name": "disk"}}}, "spec", "volumeClaimTemplates"))
	unstructured.RemoveNestedField(templated.Object, "spec", "template")
	bound := claimIn("data", "Bound")
	unavailable := `{"observedGeneration":1,"replicas":1,"updatedReplicas":1,"currentReplicas":1}`
	for _, row := range []struct {
		reason string
		of     *unstructured.Unstructured
		status string
		others []*unstructured.Unstructured
		unheld []schema.GroupVersionKind
		want   string
	}{
		{"a Pod whose image can't be had", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil,
			`Deployment web: InProgress (0 of 1 replicas are ready: Pod web-1: container "c" waits: ImagePullBackOff: no such image)`},
		{"past the deadline, too", workload(deployments, byApp), `{"observedGeneration":1,"conditions":[{"type":"Progressing","status":"False","reason":"ProgressDeadlineExceeded","message":"late"}]}`,
			[]*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil, `Deployment web: Failed (late: Pod web-1: container "c" waits: ImagePullBackOff: no such image)`},
		{"Pods of others", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "shop", pulling)}, nil, "(0 of 1 replicas are ready)"},
		{"a Pod that is ready", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", running)}, nil, "(0 of 1 replicas are ready)"},
		{"a Pod that has ended is being replaced", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", evicted), podOf("web-2", "web", starting)}, nil,
			"(0 of 1 replicas are ready: Pod web-2: the Pod is pending)"},
		{"Pods that end again and again", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", evicted)}, nil,
			"(0 of 1 replicas are ready: Pod web-1: low on memory)"},
		{"an unbound claim", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{claimIn("data", "Pending")}, nil,
			"(0 of 1 replicas are ready: PersistentVolumeClaim data: the claim isn't bound yet)"},
		{"a claim that isn't there", workload(deployments, byApp), unavailable, nil, nil, "(0 of 1 replicas are ready: PersistentVolumeClaim data: there is no such object)"},
		{"Pods aren't held", workload(deployments, byApp), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, []schema.GroupVersionKind{podKind}, "(0 of 1 replicas are ready)"},
		{"claims aren't held", workload(deployments, byApp), unavailable, nil, []schema.GroupVersionKind{volumeClaimKind}, "(0 of 1 replicas are ready)"},
		{"a selector by expressions", workload(deployments, map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "In", "values": []any{"web"}}}}), unavailable,
			[]*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil, "Pod web-1: "},
		{"an empty selector selects nothing", workload(deployments, map[string]any{}), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil, "(0 of 1 replicas are ready)"},
		{"a selector that can't be read", workload(deployments, map[string]any{"matchLabels": "web"}), unavailable, []*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil, "(0 of 1 replicas are ready)"},
		{"the selector of a ReplicationController", workload(schema.GroupVersionKind{Version: "v1", Kind: "ReplicationController"}, map[string]any{"app": "web"}), `{"observedGeneration":1,"fullyLabeledReplicas":1}`,
			[]*unstructured.Unstructured{bound, podOf("web-1", "web", pulling)}, nil, "Pod web-1: "},
		{"a failed Pod of a Job", workload(schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}, byApp), `{"startTime":"2030-01-01T00:00:00Z","failed":1}`,
			[]*unstructured.Unstructured{bound, podOf("web-1", "web", evicted)}, nil, "(the Job isn't complete yet: 1 Pods have failed: Pod web-1: low on memory)"},
		{"a claim that a StatefulSet made", templated, unavailable, []*unstructured.Unstructured{claimIn("disk-web-0", "Pending")}, nil,
			"(0 of 1 replicas are ready: PersistentVolumeClaim disk-web-0: the claim isn't bound yet)"},
		{"a claim that a StatefulSet hasn't made yet", templated, unavailable, nil, nil, "(0 of 1 replicas are ready)"},
	} {
		t.Run("status 25: "+row.reason, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, row.others...)
			w.unheld = row.unheld
			r := w.reconciler(adding(func(s *Session) { s.Add("c", row.of) }))
			_, _, _ = w.once(r)
			w.mergeStatus(deploy.Ref{Kind: row.of.GroupVersionKind(), Namespace: "shop", Name: "web"}, `{"status":`+row.status+`}`)
			_, _, _ = w.once(r)
			assert.Contains(t, w.message(), row.want)
			calls, _, _ := w.once(r)
			assert.Empty(t, calls, "nothing is asked for the sake of a message")
		})
	}
}
