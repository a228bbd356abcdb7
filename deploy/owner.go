package deploy

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// AsController makes the owner (OwnedBy) the controller of the applied objects. An object has at most one controller,
// which tools show as its parent. By default the owner isn't the controller.
func AsController() Option { return func(s *settings) { s.controller = true } }

// NotBlocking sets blockOwnerDeletion to false in owner references, so that a foreground deletion of the owner doesn't
// wait until the objects are gone. By default the deletion waits. If the admission plugin
// OwnerReferencesPermissionEnforcement is on, the default needs permission to update the owner's finalizers.
func NotBlocking() Option { return func(s *settings) { s.notBlocking = true } }

// OwnedByLabel lets a namespaced owner (OwnedBy) own objects of other namespaces and cluster-scoped objects, which
// can't reference it. These objects carry the owner's uid in the label <domain>/owner-uid. The cluster doesn't delete
// them with their owner, see Tracked. Their results have ByLabel set. By default such objects are an
// *InvalidManifestError.
func OwnedByLabel() Option { return func(s *settings) { s.labelOwned = true } }

// ownerLabel is the label with the uid of an owner that can't be referenced.
func (s settings) ownerLabel() string { return s.domain + "/owner-uid" }

// isMark reports whether field is the label with the owner's uid or the annotation with the hash. Only this manager
// writes these fields, but after a restore another manager owns them.
func (s settings) isMark(field string) bool {
	return field == ".metadata.labels."+s.ownerLabel() || field == ".metadata.annotations."+s.hashKey()
}

// own adds the owner to obj, by reference or by label. It changes obj, and keeps the references of the manifest.
func (s settings) own(obj *unstructured.Unstructured, ref Ref, scope Scope) (byLabel bool, err error) {
	owner := s.owner
	switch {
	case owner == nil || s.isOwner(ref):
		return false, nil
	case owner.GetNamespace() == "" || scope == Namespaced && ref.Namespace == owner.GetNamespace():
		return false, s.refer(obj, ref)
	case !s.labelOwned:
		return false, &InvalidManifestError{Ref: ref, Reason: "it can't be owned by " + RefOf(owner).String() +
			": an owner in a namespace owns only objects of that namespace: own others by a label: reconcile.OwnAnywhere, or the option deploy.OwnedByLabel"}
	}
	marks, err := metadataTexts(obj, ref, "labels")
	if err != nil {
		return false, err
	}
	marks[s.ownerLabel()] = string(owner.GetUID())
	obj.SetLabels(marks)
	return true, nil
}

// metadataTexts returns a copy of the labels or annotations of obj, or an error if one of them isn't a string.
func metadataTexts(obj *unstructured.Unstructured, ref Ref, field string) (map[string]string, error) {
	found, _, err := unstructured.NestedStringMap(obj.Object, "metadata", field)
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: "metadata." + field + " isn't a map of strings: quote its values"}
	}
	if found == nil {
		found = map[string]string{}
	}
	return found, nil
}

// refer appends a reference to the owner.
func (s settings) refer(obj *unstructured.Unstructured, ref Ref) error {
	if ownedBy(obj, s.owner.GetUID()) {
		return nil
	}
	references, _, err := unstructured.NestedSlice(obj.Object, "metadata", "ownerReferences")
	if err != nil {
		return &InvalidManifestError{Ref: ref, Reason: "metadata.ownerReferences isn't a list of references"}
	}
	reference := map[string]any{
		"apiVersion":         s.owner.GetAPIVersion(),
		"kind":               s.owner.GetKind(),
		"name":               s.owner.GetName(),
		"uid":                string(s.owner.GetUID()),
		"blockOwnerDeletion": !s.notBlocking,
	}
	if s.controller {
		reference["controller"] = true
	}
	return unstructured.SetNestedSlice(obj.Object, append(references, any(reference)), "metadata", "ownerReferences")
}

// isOwner reports whether ref names the owner. The owner doesn't own itself.
func (s settings) isOwner(ref Ref) bool {
	return s.owner.GroupVersionKind().GroupKind() == ref.Kind.GroupKind() &&
		s.owner.GetNamespace() == ref.Namespace && s.owner.GetName() == ref.Name
}

func ownedBy(obj *unstructured.Unstructured, uid types.UID) bool {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	references, _ := metadata["ownerReferences"].([]any)
	for _, item := range references {
		reference, _ := item.(map[string]any)
		if text, _ := reference["uid"].(string); types.UID(text) == uid {
			return true
		}
	}
	return false
}

// checkOwnership returns an error unless live may be changed or deleted on behalf of the owner.
func (s settings) checkOwnership(ref Ref, live *unstructured.Unstructured) error {
	if s.owner == nil || s.isOwner(ref) || ownedBy(live, s.owner.GetUID()) || live.GetLabels()[s.ownerLabel()] == string(s.owner.GetUID()) {
		return nil
	}
	references := slices.DeleteFunc(live.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return s.isFormer(live, r) })
	labelled := live.GetLabels()[s.ownerLabel()]
	if len(references) == 0 && labelled == "" {
		// The hash shows that we applied the object. If somebody removed our reference, that is drift.
		if s.adoption != RefuseAdoption || live.GetAnnotations()[s.hashKey()] != "" {
			return nil
		}
		return &OwnedError{Ref: ref, Deletion: s.deletion}
	}
	controller := metav1.GetControllerOf(&metav1.ObjectMeta{OwnerReferences: references})
	switch {
	case s.adoption == AdoptAlways && (controller == nil || !s.controller):
		return nil
	case controller != nil:
		return &OwnedError{Ref: ref, Owner: describeOwner(*controller), Deletion: s.deletion}
	case len(references) > 0:
		return &OwnedError{Ref: ref, Owner: describeOwner(references[0]), Deletion: s.deletion}
	}
	owned := &OwnedError{Ref: ref, Owner: "the object with the uid " + labelled, Deletion: s.deletion, Label: s.ownerLabel()}
	if !s.ours(live) {
		// Without the label, nothing would show that the object is ours, so the label must not simply be removed.
		owned.remedy = fmt.Sprintf("set the label to %s", s.owner.GetUID())
	}
	return owned
}

func describeOwner(reference metav1.OwnerReference) string {
	return reference.Kind + " " + reference.Name + " (uid " + string(reference.UID) + ")"
}
