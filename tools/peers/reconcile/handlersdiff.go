package main

import (
	"fmt"
	"testing"

	_ "unsafe" // for go:linkname

	"github.com/operkit/operkit/reconcile/handlers"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// diffOf is Of of the internal package diff of handlers, which computes Request.Diff.
//
//go:linkname diffOf github.com/operkit/operkit/reconcile/handlers/internal/diff.Of
func diffOf(before, after any) []handlers.Change

// largeDeployments returns a Deployment of 25 kB, with 10 containers of 34 environment variables each, and the same one
// with other replicas, another label, and another image of the last container.
func largeDeployments(b testing.TB) (before, after map[string]any) {
	deployment := rolledOutDeployments(1)[0].(*appsv1.Deployment)
	deployment.ManagedFields = nil
	pod := &deployment.Spec.Template.Spec
	for i := range 8 {
		sidecar := pod.Containers[i%2].DeepCopy()
		sidecar.Name = fmt.Sprintf("sidecar-%d", i)
		pod.Containers = append(pod.Containers, *sidecar)
	}
	for c := range pod.Containers {
		for i := range 31 {
			pod.Containers[c].Env = append(pod.Containers[c].Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d_%d", c, i), Value: fmt.Sprintf("value-%d", i)})
		}
	}
	changed, replicas := deployment.DeepCopy(), int32(5)
	changed.Spec.Replicas = &replicas
	changed.Labels["app.kubernetes.io/component"] = "backend"
	changed.Spec.Template.Spec.Containers[len(pod.Containers)-1].Image += "-1"
	var err error
	before, err = runtime.DefaultUnstructuredConverter.ToUnstructured(deployment)
	must(b, err)
	after, err = runtime.DefaultUnstructuredConverter.ToUnstructured(changed)
	must(b, err)
	return before, after
}

// diffOurs compares the Deployments as handlers do for Request.Diff.
func diffOurs(b *testing.B) {
	before, after := largeDeployments(b)
	for b.Loop() {
		if found := diffOf(before, after); len(found) != 3 {
			b.Fatalf("%d fields differ", len(found))
		}
	}
}

// diffPeer makes the strategic merge patch from one Deployment to the other.
func diffPeer(b *testing.B) {
	before, after := largeDeployments(b)
	for b.Loop() {
		patch, err := strategicpatch.CreateTwoWayMergeMapPatch(before, after, appsv1.Deployment{})
		must(b, err)
		if len(patch) != 2 {
			b.Fatalf("patch %v", patch)
		}
	}
}
