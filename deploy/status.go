package deploy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apijson "k8s.io/apimachinery/pkg/util/json"
)

// SetStatus writes the status that compute returns for the current object. It sends the differences as a merge patch to
// the status subresource, with the resourceVersion that compute saw as the precondition. If the object changed
// meanwhile, SetStatus reads it from the cluster and calls compute again, so that writes of others aren't lost. A
// status without a difference costs no call. compute must not change its argument. If the object is absent, the result
// is Skipped. If the kind has no status subresource, the error is an *InvalidError.
func (m *Manager) SetStatus(ctx context.Context, ref Ref, compute func(current *unstructured.Unstructured) (map[string]any, error)) (Result, error) {
	requests := m.requests(m.settings)
	current, err := m.read(ctx, m.settings.retryFor, ref)
	for attempt := 1; ; attempt++ {
		if err == nil && current == nil {
			return Result{Ref: ref, Action: Skipped}, nil
		}
		var result Result
		if err == nil {
			result, err = m.patchStatus(ctx, requests, ref, current, compute)
		}
		switch {
		case is[*NotFoundError](err):
			return m.statusNotFound(ctx, requests, ref)
		case is[*StaleError](err) && attempt < maxAttempts:
			current, err = requests.Get(ctx, ref)
		case err != nil:
			return Result{Ref: ref, Action: Failed, Err: err}, err
		default:
			return result, nil
		}
	}
}

// statusNotFound distinguishes an absent object from a kind without a status subresource: a patch of the status returns
// 404 for both.
func (m *Manager) statusNotFound(ctx context.Context, requests requests, ref Ref) (Result, error) {
	current, err := requests.Get(ctx, ref)
	if err == nil && current == nil {
		return Result{Ref: ref, Action: Skipped}, nil
	}
	if err == nil {
		err = &InvalidError{Ref: ref, Err: errors.New("its kind has no status subresource: add it to the CustomResourceDefinition")}
	}
	return Result{Ref: ref, Action: Failed, Err: err}, err
}

func (m *Manager) patchStatus(ctx context.Context, requests requests, ref Ref, current *unstructured.Unstructured, compute func(*unstructured.Unstructured) (map[string]any, error)) (Result, error) {
	next, err := compute(current)
	if err != nil {
		return Result{}, fmt.Errorf("%s: status: %w", ref, err)
	}
	before, _ := current.Object["status"].(map[string]any)
	if sameMap(next, before) {
		return Result{Ref: ref, Action: Unchanged, Object: current}, nil
	}
	wanted, err := asJSON(next)
	if err != nil {
		return Result{}, fmt.Errorf("%s: status: %w", ref, err)
	}
	difference := mergeDifference(before, wanted)
	if len(difference) == 0 {
		return Result{Ref: ref, Action: Unchanged, Object: current}, nil
	}
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": current.GetResourceVersion(), "uid": string(current.GetUID())},
		"status":   difference,
	})
	if err != nil {
		return Result{}, fmt.Errorf("%s: status: %w", ref, err)
	}
	obj, err := requests.Patch(ctx, ref, PatchRequest{
		Type: types.MergePatchType, Body: body, Subresource: "status",
		FieldManager: m.settings.fieldManager, DryRun: m.settings.dryRun,
	})
	if err != nil {
		return Result{}, err
	}
	if !m.settings.dryRun && isState(obj, current) {
		// The patch changed nothing, because the schema defaults or drops the differences: the status can't be stored
		// in another form.
		return Result{Ref: ref, Action: Unchanged, Object: obj}, nil
	}
	return Result{Ref: ref, Action: Configured, Object: obj}, nil
}

// sameMap reports whether a and b are the same map, so that their content needn't be compared.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// asJSON returns value as the API server would return it: plain maps and lists, integers as int64, without null fields.
// Only this form can be compared with the status that a read returns.
func asJSON(value map[string]any) (map[string]any, error) {
	if isJSON(value) {
		return value, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := apijson.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	return plainMap(out)
}

// isJSON reports whether asJSON would return value unchanged. It may return false for fractions.
func isJSON(value any) bool {
	switch v := value.(type) {
	case string, bool, int64:
		return true
	case map[string]any:
		for _, item := range v {
			if !isJSON(item) {
				return false
			}
		}
		return v != nil
	case []any:
		for _, item := range v {
			if item != nil && !isJSON(item) {
				return false
			}
		}
		return v != nil
	}
	return false
}

// mergeDifference returns the merge patch (RFC 7386) that turns before into after.
func mergeDifference(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	for key, value := range after {
		old, existed := before[key]
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		switch {
		case existed && oldIsMap && newIsMap:
			if below := mergeDifference(oldMap, newMap); len(below) > 0 {
				patch[key] = below
			}
		case !existed || !reflect.DeepEqual(old, value):
			patch[key] = value
		}
	}
	return patch
}
