package deploy

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// RemoveOwner removes the owner (OwnedBy) from the owners of obj in the cluster: the reference to it, or the label with
// its uid. It writes nothing else; other owners stay. The result is Unchanged, without a call, if the owner doesn't own
// obj, and Unchanged without an Object if obj is gone. If obj isn't the current state in the cluster, the error is a
// *StaleError. RemoveOwner doesn't change obj itself.
func (m *Manager) RemoveOwner(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (Result, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return Result{}, err
	}
	result := m.removeOwner(ctx, s, obj)
	return result, result.Err
}

func (m *Manager) removeOwner(ctx context.Context, s settings, live *unstructured.Unstructured) Result {
	ref, _, err := m.locate(ctx, s, live)
	if err != nil {
		return failure(ref, err)
	}
	metadata := s.disownment(live)
	if len(metadata) == 0 {
		return Result{Ref: ref, Action: Unchanged, Object: live}
	}
	t := task{Manager: m, settings: s, port: m.requests(s), in: &intent{ref: ref}}
	result := t.patchMetadata(ctx, live, metadata)
	if is[*NotFoundError](result.Err) {
		return Result{Ref: ref, Action: Unchanged}
	}
	return result
}

// disownment returns the fields of metadata that differ in an object that the owner doesn't own any more.
func (s settings) disownment(live *unstructured.Unstructured) map[string]any {
	if s.owner == nil {
		return nil
	}
	uid, free := s.owner.GetUID(), live.DeepCopy()
	if ownedBy(live, uid) {
		references := slices.DeleteFunc(free.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.UID == uid })
		if len(references) == 0 {
			references = nil // the field goes, too
		}
		free.SetOwnerReferences(references)
	}
	if label := s.ownerLabel(); live.GetLabels()[label] == string(uid) {
		unstructured.RemoveNestedField(free.Object, "metadata", "labels", label)
	}
	before, _ := live.Object["metadata"].(map[string]any)
	after, _ := free.Object["metadata"].(map[string]any)
	return mergeDifference(before, after)
}
