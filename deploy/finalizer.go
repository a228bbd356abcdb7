package deploy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// AddFinalizer adds the finalizer name to the object in the cluster unless obj has it. It writes nothing else, and
// doesn't change obj itself. If obj isn't the current state in the cluster, AddFinalizer returns a *StaleError. For an
// object that is being deleted it returns a *TerminatingError without a call.
func (m *Manager) AddFinalizer(ctx context.Context, obj *unstructured.Unstructured, name string) error {
	finalizers := obj.GetFinalizers()
	if slices.Contains(finalizers, name) {
		return nil
	}
	if obj.GetDeletionTimestamp() != nil {
		return &TerminatingError{Ref: RefOf(obj), Finalizers: finalizers}
	}
	return m.patchFinalizers(ctx, obj, append(slices.Clone(finalizers), name))
}

// RemoveFinalizer removes the finalizer name from the object in the cluster. It writes nothing else, and has the same
// precondition as AddFinalizer. It returns nil for an object that is gone.
func (m *Manager) RemoveFinalizer(ctx context.Context, obj *unstructured.Unstructured, name string) error {
	finalizers := obj.GetFinalizers()
	if !slices.Contains(finalizers, name) {
		return nil
	}
	rest := slices.DeleteFunc(slices.Clone(finalizers), func(f string) bool { return f == name })
	err := m.patchFinalizers(ctx, obj, rest)
	if is[*NotFoundError](err) {
		return nil
	}
	return err
}

func (m *Manager) patchFinalizers(ctx context.Context, obj *unstructured.Unstructured, finalizers []string) error {
	ref := RefOf(obj)
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": string(obj.GetUID()), "resourceVersion": obj.GetResourceVersion(), "finalizers": finalizers,
	}})
	if err != nil {
		return fmt.Errorf("%s: finalizers: %w", ref, err)
	}
	_, err = m.requests(m.settings).Patch(ctx, ref, PatchRequest{
		Type: types.MergePatchType, Body: body, FieldManager: m.settings.fieldManager, DryRun: m.settings.dryRun,
	})
	return err
}
