package deploy

import (
	"context"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// AddOwner makes the owner (OwnedBy) an owner of obj in the cluster, by reference or by label, as Apply does. It writes
// nothing else: no field of the object changes, and the next Apply finds the intent of the last one. References to an
// earlier object with the owner's name are removed. The result is Unchanged, without a call, if the owner owns obj
// already. An object that belongs to somebody else is Conflicted with an *OwnedError, as for Apply; the option Adopt
// decides which objects may be adopted. If obj isn't the current state in the cluster, the error is a *StaleError. An
// object that is being deleted is Skipped with a *TerminatingError. AddOwner doesn't change obj itself.
func (m *Manager) AddOwner(ctx context.Context, obj *unstructured.Unstructured, options ...Option) (Result, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return Result{}, err
	}
	result := m.addOwner(ctx, s, obj)
	return result, result.Err
}

func (m *Manager) addOwner(ctx context.Context, s settings, live *unstructured.Unstructured) Result {
	ref, scope, err := m.locate(ctx, s, live)
	if err != nil {
		return failure(ref, err)
	}
	t := task{Manager: m, settings: s, port: m.requests(s), in: &intent{ref: ref}}
	if result, barred := t.barred(ctx, live); barred {
		return result
	}
	if other := s.otherController(live); other != nil {
		return Result{Ref: ref, Action: Conflicted, Object: live, Err: &OwnedError{Ref: ref, Owner: describeOwner(*other)}}
	}
	metadata, err := s.ownership(live, ref, scope)
	if err != nil {
		return failure(ref, err)
	}
	if len(metadata) == 0 {
		return Result{Ref: ref, Action: Unchanged, Object: live}
	}
	return t.patchMetadata(ctx, live, metadata)
}

// otherController returns the reference to a controller that isn't the owner, nil if there is none or the owner isn't
// to be the controller.
func (s settings) otherController(live *unstructured.Unstructured) *metav1.OwnerReference {
	controller := metav1.GetControllerOf(live)
	if s.owner == nil || !s.controller || controller == nil || controller.UID == s.owner.GetUID() {
		return nil
	}
	return controller
}

// ownership returns the fields of metadata that differ in an object that the owner owns.
func (s settings) ownership(live *unstructured.Unstructured, ref Ref, scope Scope) (map[string]any, error) {
	if s.owner == nil {
		return nil, nil
	}
	owned := live.DeepCopy()
	references := slices.DeleteFunc(owned.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		controls := r.Controller != nil && *r.Controller
		return s.isFormer(live, r) || r.UID == s.owner.GetUID() && s.controller && !controls
	})
	owned.SetOwnerReferences(references)
	if _, err := s.own(owned, ref, scope); err != nil {
		return nil, err
	}
	before, _ := live.Object["metadata"].(map[string]any)
	after, _ := owned.Object["metadata"].(map[string]any)
	return mergeDifference(before, after), nil
}

// patchMetadata writes fields of the metadata of live, unless live has changed meanwhile.
func (t *task) patchMetadata(ctx context.Context, live *unstructured.Unstructured, metadata map[string]any) Result {
	ref := RefOf(live)
	metadata["uid"], metadata["resourceVersion"] = string(live.GetUID()), live.GetResourceVersion()
	body, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	patch := PatchRequest{Type: types.MergePatchType, Body: body, FieldManager: t.fieldManager, DryRun: t.dryRun}
	patched, err := t.port.Patch(ctx, ref, patch)
	if err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	result := Result{Ref: ref, Action: Configured, Object: patched}
	if !t.partial {
		result.Changes = t.changes(live, patched)
	}
	return result
}
