package deploy

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// addOwner appends a reference to owner, keeping those of the manifest (spec: deploy 23-27).
// obj is changed. The controller flag stays unset so that owners can share an object.
func addOwner(obj *unstructured.Unstructured, ref Ref, scope Scope, owner *unstructured.Unstructured) error {
	if owner.GetNamespace() != "" && (scope == ClusterScoped || ref.Namespace != owner.GetNamespace()) {
		return &InvalidManifestError{Ref: ref, Reason: "it can't be owned by " + RefOf(owner).String() +
			": an owner in a namespace owns objects of that namespace only"}
	}
	if ownedBy(obj, owner.GetUID()) {
		return nil
	}
	references, _, err := unstructured.NestedSlice(obj.Object, "metadata", "ownerReferences")
	if err != nil {
		return &InvalidManifestError{Ref: ref, Reason: "metadata.ownerReferences is no list of references"}
	}
	references = append(references, map[string]any{
		"apiVersion":         owner.GetAPIVersion(),
		"kind":               owner.GetKind(),
		"name":               owner.GetName(),
		"uid":                string(owner.GetUID()),
		"blockOwnerDeletion": true,
	})
	return unstructured.SetNestedSlice(obj.Object, references, "metadata", "ownerReferences")
}

// isOwner tells whether ref names the owner itself, which doesn't own itself (spec: deploy 25).
func (s settings) isOwner(ref Ref) bool {
	return s.owner.GroupVersionKind().GroupKind() == ref.Kind.GroupKind() &&
		s.owner.GetNamespace() == ref.Namespace && s.owner.GetName() == ref.Name
}

func ownedBy(obj *unstructured.Unstructured, uid types.UID) bool {
	for _, reference := range obj.GetOwnerReferences() {
		if reference.UID == uid {
			return true
		}
	}
	return false
}

// checkOwnership tells whether live may be changed or deleted on behalf of the owner.
func (s settings) checkOwnership(ref Ref, live *unstructured.Unstructured) error {
	if s.owner == nil || s.isOwner(ref) || ownedBy(live, s.owner.GetUID()) {
		return nil
	}
	references := live.GetOwnerReferences()
	if len(references) == 0 {
		// Our hash on it says that we applied it: somebody took the reference off since, which is
		// drift like any other.
		if s.adoption == AdoptUnowned || live.GetAnnotations()[s.hashKey()] != "" {
			return nil
		}
		return &OwnedError{Ref: ref}
	}
	first := references[0]
	return &OwnedError{Ref: ref, Owner: first.Kind + " " + first.Name + " (uid " + string(first.UID) + ")"}
}
