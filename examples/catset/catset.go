package main

import (
	"slices"

	v1 "github.com/operkit/operkit/examples/catset/api/v1"
	"github.com/operkit/operkit/reconcile/desired"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The kinds of the children.
var (
	podKind     = corev1.SchemeGroupVersion.WithKind("Pod")
	serviceKind = corev1.SchemeGroupVersion.WithKind("Service")
	claimKind   = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
)

// Request is what the functions get: a set and its children.
type Request = desired.Request[v1.CatSet]

// CatSets returns the controller of cat sets: the kinds of their children, how these are updated, and what computes
// them.
func CatSets() *desired.Controller[v1.CatSet] {
	return desired.New(v1.CatSetKind, cats{},
		desired.Child(podKind, desired.RollingRecreate, desired.Healthy(string(corev1.PodReady), metav1.ConditionTrue)),
		desired.Child(serviceKind, desired.InPlace),
		desired.Child(claimKind, desired.OnDelete))
}

// cats computes the children of a set.
type cats struct{}

// Sync wants each Pod once those before it are ready. Of superfluous Pods it keeps all but the last one, and all of
// them as long as another Pod isn't ready. A Pod that has ended isn't wanted: it is deleted, and created again after
// that. The others stay as they are meanwhile.
func (cats) Sync(r Request) (response desired.Response, err error) {
	pods, err := podsOf(r)
	if err != nil {
		return response, err
	}
	var wanted []any
	set, last, mends := r.Parent, pods.last(), pods.haveEnded()
	isReady := !mends
	response.Children = append(response.Children, serviceOf(set))
	for i := range max(set.Spec.Replicas, last+1) {
		switch pod := pods[i]; {
		case hasEnded(pod):
		case i < set.Spec.Replicas && !mends && (pod != nil || isReady):
			response.Children = append(response.Children, claimOf(set, i))
			wanted = append(wanted, podOf(set, i))
			isReady = isReady && isHealthy(pod)
		case pod != nil && (i < last || !isReady):
			wanted = append(wanted, r.Children.Get(podKind, pod.Name))
		}
	}
	slices.Reverse(wanted) // a roll begins with the last Pod
	response.Children = append(response.Children, wanted...)
	response.Status = statusOf(set, pods, nil)
	return response, nil
}

// Finalize deletes the Pods, the last one first, each after the one before it is gone. The cluster deletes the rest
// with the set.
func (cats) Finalize(r Request) (response desired.Response, err error) {
	pods, err := podsOf(r)
	if err != nil {
		return response, err
	}
	for _, child := range slices.Concat(r.Children.Of(podKind), r.Children.Of(serviceKind), r.Children.Of(claimKind)) {
		if child.GetName() != nameOf(r.Parent, pods.last()) {
			response.Children = append(response.Children, child)
		}
	}
	response.Status = statusOf(r.Parent, pods, nil)
	response.Finalized = len(pods) == 0
	return response, nil
}

// Failed reports what went wrong, such as a Pod that the cluster refuses.
func (cats) Failed(r Request, err error) any {
	pods, _ := podsOf(r)
	return statusOf(r.Parent, pods, err)
}
