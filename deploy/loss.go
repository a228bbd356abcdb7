package deploy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// protectedKinds are the kinds for which Protected returns true.
var protectedKinds = []schema.GroupKind{
	{Kind: "Namespace"},
	{Kind: "PersistentVolume"},
	{Kind: "PersistentVolumeClaim"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"},
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotContent"},
}

// Protected reports whether the deletion of an object of kind also deletes data or other objects. The protected kinds
// are Namespace, PersistentVolume, PersistentVolumeClaim, CustomResourceDefinition, VolumeSnapshot and
// VolumeSnapshotContent. The strategy Recreate doesn't delete such objects, and they are pruned only on request.
func Protected(kind schema.GroupKind) bool { return slices.Contains(protectedKinds, kind) }

// checkLoss returns an error if the deletion of live would delete data and the strategy doesn't allow this. refusal is
// the reason why live can't be changed.
func (t *task) checkLoss(ctx context.Context, live *unstructured.Unstructured, refusal error) error {
	if t.in.strategy == RecreateProtected {
		return nil
	}
	ref := t.in.ref
	if Protected(ref.Kind.GroupKind()) {
		return &InvalidError{Ref: ref, Causes: causesOf(refusal), Err: fmt.Errorf(
			"%s: deleting the object would also delete what it contains: to allow this, use the strategy %s", reason(refusal), RecreateProtected)}
	}
	if t.recreatePropagation() == metav1.DeletePropagationOrphan {
		return nil
	}
	lost, err := t.lostWith(ctx, live)
	if err != nil || len(lost) == 0 {
		return err
	}
	return &InvalidError{Ref: ref, Causes: causesOf(refusal), Err: fmt.Errorf(
		"%s: deleting the object would also delete the data of %s: use the strategy %s, which keeps what the object owns, or %s, which doesn't",
		reason(refusal), strings.Join(lost, ", "), RecreateOrphan, RecreateProtected)}
}

// lostWith returns the names of the protected objects that the garbage collector would delete after live.
func (t *task) lostWith(ctx context.Context, live *unstructured.Unstructured) ([]string, error) {
	if deletesClaims(live) {
		return []string{"the claims of its volumeClaimTemplates"}, nil
	}
	owners := ownerWalk{task: t, known: map[types.UID]fate{live.GetUID(): goes}}
	var lost []string
	for _, kind := range protectedKinds {
		found, err := t.mayBeOwnedBy(ctx, live, kind.WithVersion("v1"))
		if err != nil {
			return nil, err
		}
		for _, obj := range found {
			fate, err := owners.fateOf(ctx, obj)
			if err != nil {
				return nil, fmt.Errorf("%s: it is kept, because %s %s might be deleted with it: %w", t.in.ref, kind.Kind, obj.GetName(), err)
			}
			if fate == goes {
				lost = append(lost, kind.Kind+" "+obj.GetName())
			}
		}
	}
	return lost, nil
}

// mayBeOwnedBy lists the objects of a protected kind that live may own.
func (t *task) mayBeOwnedBy(
	ctx context.Context, live *unstructured.Unstructured, kind schema.GroupVersionKind,
) (found []*unstructured.Unstructured, err error) {
	namespace, scope := live.GetNamespace(), Namespaced
	if namespace == "" {
		scope = ClusterScoped
	}
	if !mayOwn(scope, kind.Kind) {
		return nil, nil
	}
	if _, err = t.port.Scope(ctx, kind); err == nil {
		if found, err = t.port.List(ctx, kind, namespace, ListOptions{}); err == nil {
			return found, nil
		}
	}
	if is[*KindUnknownError](err) || t.isUnlikelyOwner(err) {
		return nil, nil
	}
	return nil, fmt.Errorf("%s: it is kept, because it can't be checked whether objects of the kind %s would be deleted with it: %w", t.in.ref, kind.Kind, err)
}

// isUnlikelyOwner reports whether err is a missing permission that doesn't matter because the object is of a built-in
// kind. Of the built-in kinds, only StatefulSets own objects that hold data, and deletesClaims checks this by the spec.
func (t *task) isUnlikelyOwner(err error) bool {
	return is[*ForbiddenError](err) && isBuiltIn(t.in.ref.Kind.Group)
}

// deletesClaims reports whether a StatefulSet's claims are deleted with it.
func deletesClaims(obj *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(obj.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	return obj.GroupVersionKind().GroupKind() == statefulSet && policy == "Delete"
}

// isBuiltIn reports whether a group is part of Kubernetes.
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// fate says what happens to an owner when an object, the root, is deleted: the owner is deleted, too (goes), it stays
// (stays), or it is missing already (gone).
type fate int

const (
	stays fate = iota
	goes
	gone
)

// ownerWalk follows owner references up to one object, the root.
type ownerWalk struct {
	task *task
	// known are the owners visited so far.
	known map[types.UID]fate
}

// fateOf returns the fate of an object that exists. The garbage collector deletes the object after the root if at least
// one of its owners is deleted and no owner stays.
func (w ownerWalk) fateOf(ctx context.Context, obj *unstructured.Unstructured) (fate, error) {
	found := stays
	for _, reference := range obj.GetOwnerReferences() {
		owner, err := w.fateOfOwner(ctx, obj.GetNamespace(), reference)
		if err != nil || owner == stays {
			return stays, err
		}
		if owner == goes {
			found = goes
		}
	}
	return found, nil
}

func (w ownerWalk) fateOfOwner(ctx context.Context, namespace string, reference metav1.OwnerReference) (fate, error) {
	if known, seen := w.known[reference.UID]; seen {
		return known, nil
	}
	w.known[reference.UID] = stays // ends cycles; the garbage collector deletes nothing in a cycle
	found := gone
	owner, err := w.owner(ctx, namespace, reference)
	if w.task.isUnlikelyOwner(err) {
		return stays, nil
	}
	if err == nil && owner != nil {
		found, err = w.fateOf(ctx, owner)
	}
	if err == nil {
		w.known[reference.UID] = found
	}
	return found, err
}

// owner returns the object that a reference names, nil if there is none.
func (w ownerWalk) owner(ctx context.Context, namespace string, reference metav1.OwnerReference) (*unstructured.Unstructured, error) {
	kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	scope, err := w.task.port.Scope(ctx, kind)
	if is[*KindUnknownError](err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if scope == ClusterScoped {
		namespace = ""
	}
	owner, err := w.task.port.Get(ctx, Ref{Kind: kind, Namespace: namespace, Name: reference.Name})
	if err != nil || owner == nil || owner.GetUID() != reference.UID {
		return nil, err
	}
	return owner, nil
}
