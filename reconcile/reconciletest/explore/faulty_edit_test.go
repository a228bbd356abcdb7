package explore

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wrongAfterEdits returns hand-written operators whose faults need an edit, and what comes after it.
func wrongAfterEdits() []faulty {
	return []faulty{
		{
			fault: "explore 6: paused, it can't be deleted", source: "cluster-api-provider-aws#4584", style: "by hand",
			operator: byHand(pausing), story: []string{"what is deleted leaves nothing", `spec.title: "milk"`, "delete Shop", "Shop.explore.operkit.dev test/tea is there"},
		},
		{
			fault: "explore 7: a recreation loses a value", source: "Sieve: a crash", style: "by hand",
			operator: byHand(recreating), story: []string{"a generated value changes", "the operator is killed", "ConfigMap test/till .data.token"},
		},
		{
			fault: "explore 58: an edit loses the data", source: "Acto: an update that loses data", style: "by hand",
			operator: byHand(reclaiming, "PersistentVolumeClaim"), story: []string{"data is lost", "edit Shop", "PersistentVolumeClaim test/disk"},
		},
	}
}

// pausedFinalizer holds a resource until its child is gone.
const pausedFinalizer = "explore.operkit.dev/paused"

// pausing leaves a resource alone that is paused, also when it is being deleted:
// https://github.com/kubernetes-sigs/cluster-api-provider-aws/issues/4584
func pausing(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	title, _, _ := unstructured.NestedString(resource.Object, "spec", "title")
	isDeleted, isHeld := resource.GetDeletionTimestamp() != nil, slices.Contains(resource.GetFinalizers(), pausedFinalizer)
	switch {
	case title == "milk" && !(m.sound && isDeleted), isDeleted && !isHeld:
		return nil
	case isDeleted:
		return m.patch(ctx, resource, "", `{"metadata":{"finalizers":null}}`)
	case isHeld:
		return careful(ctx, m, resource)
	}
	if err := m.patch(ctx, resource, "", fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, pausedFinalizer)); err != nil {
		return err
	}
	return careful(ctx, m, resource)
}

// recreating deletes its child when the size changes, and creates it anew with the token that it had: if it is killed
// in between, the token is lost.
func recreating(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	till, err := m.get(ctx, "ConfigMap", "till", resource)
	size, token := fmt.Sprint(sizeOf(resource)), rand.Text()
	switch {
	case err != nil:
		return err
	case till != nil && dataOf(till, "size") == size:
		return nil
	case till != nil && m.sound:
		return m.patch(ctx, till, "", fmt.Sprintf(`{"data":{"size":%q}}`, size))
	case till != nil:
		token = dataOf(till, "token")
		if err := m.delete(ctx, till); err != nil {
			return err
		}
	}
	return m.create(ctx, resource, "{apiVersion: v1, kind: ConfigMap, metadata: {name: till}, data: {size: '%s', token: %s}}", size, token)
}

// reclaiming replaces its claim by one of another size.
func reclaiming(ctx context.Context, m *manual, resource *unstructured.Unstructured) error {
	claim, err := m.get(ctx, "PersistentVolumeClaim", "disk", resource)
	if err != nil {
		return err
	}
	size := fmt.Sprintf("%dGi", sizeOf(resource))
	if claim != nil {
		present, _, _ := unstructured.NestedString(claim.Object, "spec", "resources", "requests", "storage")
		if present == size {
			return nil
		}
		if m.sound {
			return m.patch(ctx, claim, "", fmt.Sprintf(`{"spec":{"resources":{"requests":{"storage":%q}}}}`, size))
		}
		if err := m.delete(ctx, claim); err != nil {
			return err
		}
	}
	return m.create(ctx, resource, "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: disk}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: %s}}}}", size)
}
