package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// protectedKinds are those for which Protected is true.
var protectedKinds = []schema.GroupKind{
	{Kind: "Namespace"},
	{Kind: "PersistentVolume"},
	{Kind: "PersistentVolumeClaim"},
	{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"},
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshot"},
	{Group: "snapshot.storage.k8s.io", Kind: "VolumeSnapshotContent"},
}

// Protected reports whether the deletion of an object of kind takes along the data or the other objects that it holds:
// of a Namespace, a PersistentVolume or a claim for it, a CustomResourceDefinition, a VolumeSnapshot. Such objects aren't
// deleted because of a change (Recreate), nor pruned unless that is asked for.
func Protected(kind schema.GroupKind) bool { return slices.Contains(protectedKinds, kind) }

var claimKind = schema.GroupVersionKind{Version: "v1", Kind: "PersistentVolumeClaim"}

// checkLoss returns an error if the deletion of live would take data along and the strategy doesn't allow it.
// refusal is why live can't be changed.
func (t *task) checkLoss(ctx context.Context, live *unstructured.Unstructured, refusal error) error {
	if t.in.strategy == RecreateProtected {
		return nil
	}
	ref := t.in.ref
	if Protected(ref.Kind.GroupKind()) {
		return &InvalidError{Ref: ref, Causes: causesOf(refusal), Err: fmt.Errorf(
			"%s: deleting it would take along what it holds: use the strategy %s if that is meant", reason(refusal), RecreateProtected)}
	}
	if t.recreatePropagation() == metav1.DeletePropagationOrphan {
		return nil
	}
	claims, err := t.claimsOf(ctx, live)
	if err != nil || len(claims) == 0 {
		return err
	}
	return &InvalidError{Ref: ref, Causes: causesOf(refusal), Err: fmt.Errorf(
		"%s: deleting it would take along the data of %s: use the strategy %s, which keeps what the object owns, or %s if that is meant",
		reason(refusal), strings.Join(claims, ", "), RecreateOrphan, RecreateProtected)}
}

// claimsOf names the claims that the garbage collector deletes after live: those that live owns, itself or through
// objects that it owns.
func (t *task) claimsOf(ctx context.Context, live *unstructured.Unstructured) ([]string, error) {
	if deletesClaims(live) {
		return []string{"the claims of its volumeClaimTemplates"}, nil
	}
	found, err := t.port.List(ctx, claimKind, live.GetNamespace(), ListOptions{})
	var forbidden *ForbiddenError
	if errors.As(err, &forbidden) && isBuiltIn(t.in.ref.Kind.Group) {
		return nil, nil // of these a StatefulSet alone makes claims that it owns
	}
	if err != nil {
		return nil, fmt.Errorf("%s: it is kept, because claims that would be deleted with it can't be looked for: %w", t.in.ref, err)
	}
	owners := ownerWalk{task: t, root: live.GetUID(), known: map[types.UID]bool{}}
	var claims []string
	for _, claim := range found {
		below, err := owners.leadsToRoot(ctx, claim)
		if err != nil {
			return nil, fmt.Errorf("%s: it is kept, because PersistentVolumeClaim %s might be deleted with it: %w", t.in.ref, claim.GetName(), err)
		}
		if below {
			claims = append(claims, "PersistentVolumeClaim "+claim.GetName())
		}
	}
	return claims, nil
}

// deletesClaims reports whether a StatefulSet's claims go with it.
func deletesClaims(obj *unstructured.Unstructured) bool {
	policy, _, _ := unstructured.NestedString(obj.Object, "spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted")
	kind := obj.GroupVersionKind()
	return kind.Group == "apps" && kind.Kind == "StatefulSet" && policy == "Delete"
}

// isBuiltIn reports whether a group is one of Kubernetes' own.
func isBuiltIn(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// ownerWalk follows owner references up to one object.
type ownerWalk struct {
	task  *task
	root  types.UID
	known map[types.UID]bool
}

// leadsToRoot reports whether the root owns obj, itself or through other objects. An owner that is gone owns nothing.
func (w ownerWalk) leadsToRoot(ctx context.Context, obj *unstructured.Unstructured) (bool, error) {
	for _, reference := range obj.GetOwnerReferences() {
		if reference.UID == w.root {
			return true, nil
		}
		known, seen := w.known[reference.UID]
		if !seen {
			w.known[reference.UID] = false // also ends a circle
			owner, err := w.owner(ctx, obj.GetNamespace(), reference)
			if err != nil {
				return false, err
			}
			if owner != nil {
				if known, err = w.leadsToRoot(ctx, owner); err != nil {
					return false, err
				}
			}
			w.known[reference.UID] = known
		}
		if known {
			return true, nil
		}
	}
	return false, nil
}

// owner reads the object that a reference names, nil if there is none.
func (w ownerWalk) owner(ctx context.Context, namespace string, reference metav1.OwnerReference) (*unstructured.Unstructured, error) {
	kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	scope, err := w.task.port.Scope(ctx, kind)
	var unknown *KindUnknownError
	if errors.As(err, &unknown) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if scope == ClusterScoped {
		namespace = ""
	}
	owner, err := w.task.port.Get(ctx, Ref{Kind: kind, Namespace: namespace, Name: reference.Name})
	if isNotFound(err) || err == nil && owner.GetUID() != reference.UID {
		return nil, nil
	}
	return owner, err
}
