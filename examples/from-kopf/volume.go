package main

import (
	"context"
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

var (
	pvcKind = corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim")
	podKind = corev1.SchemeGroupVersion.WithKind("Pod")
)

// volume returns the PVC of a claim. Its labels are set by label.
func volume(c *Claim) *corev1ac.PersistentVolumeClaimApplyConfiguration {
	return corev1ac.PersistentVolumeClaim(c.Name, c.Namespace).WithSpec(corev1ac.PersistentVolumeClaimSpec().
		WithAccessModes(corev1.ReadWriteOnce).
		WithResources(corev1ac.VolumeResourceRequirements().WithRequests(corev1.ResourceList{corev1.ResourceStorage: c.Spec.Size})))
}

// keyOf returns the key of the claim's PVC in an Index.
func keyOf(r *Request) types.NamespacedName {
	return types.NamespacedName{Namespace: r.Ref.Namespace, Name: r.Ref.Name}
}

// pvcOf names the claim's PVC.
func pvcOf(r *Request) deploy.Ref {
	return deploy.Ref{Kind: pvcKind, Namespace: r.Ref.Namespace, Name: r.Ref.Name}
}

// find returns the claim's PVC, nil if there is none of its own.
func find(ctx context.Context, r *Request) (*unstructured.Unstructured, error) {
	manager, err := r.Manager()
	if err != nil {
		return nil, err
	}
	pvc, err := manager.Get(ctx, pvcOf(r))
	if err != nil || pvc == nil || !owns(r.Object.UID, pvc) {
		return nil, err
	}
	return pvc, nil
}

// label changes the labels of the claim's PVC by change. They aren't applied, because an apply would remove labels that
// it no longer names, also if somebody else relies on them. So they need a field manager of their own.
func label(ctx context.Context, r *Request, change func(labels map[string]string)) error {
	manager, err := r.Manager()
	if err != nil {
		return err
	}
	if manager, err = manager.With(deploy.FieldManager(manager.FieldManager() + "-labels")); err != nil {
		return err
	}
	result, err := manager.Change(ctx, pvcOf(r), func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		if !owns(r.Object.UID, current) {
			return nil, request.Precondition("the PVC belongs to somebody else")
		}
		next, labels := current.DeepCopy(), map[string]string{}
		maps.Copy(labels, current.GetLabels())
		change(labels)
		next.SetLabels(labels)
		return next, nil
	})
	if err == nil && result.Action == deploy.Skipped {
		return request.Precondition("there is no PVC")
	}
	return err
}

// owns reports whether the object with a uid owns another object.
func owns(owner types.UID, object *unstructured.Unstructured) bool {
	return slices.ContainsFunc(object.GetOwnerReferences(), func(reference metav1.OwnerReference) bool { return reference.UID == owner })
}

// usedBy returns the name of a Pod that hasn't ended, by each PVC that it uses.
func usedBy(pod *corev1.Pod) (map[types.NamespacedName]string, error) {
	used := map[types.NamespacedName]string{}
	if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return nil, nil
	}
	for _, volume := range pod.Spec.Volumes {
		if claim := volume.PersistentVolumeClaim; claim != nil {
			used[types.NamespacedName{Namespace: pod.Namespace, Name: claim.ClaimName}] = pod.Name
		}
	}
	return used, nil
}

// sizeOf returns the size of the volume of a PVC, nothing if it has none.
func sizeOf(pvc *corev1.PersistentVolumeClaim) (map[types.NamespacedName]string, error) {
	size, ok := pvc.Status.Capacity[corev1.ResourceStorage]
	if pvc.Status.Phase != corev1.ClaimBound || !ok {
		return nil, nil
	}
	return map[types.NamespacedName]string{{Namespace: pvc.Namespace, Name: pvc.Name}: size.String()}, nil
}
