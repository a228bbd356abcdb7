package deploy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// Change calls compute with the current state of the object of ref, and changes the object to the state that compute
// returns. It sends the differences as a merge patch, with the uid and resourceVersion that compute saw as the
// precondition. If the object changed meanwhile, Change reads it from the cluster and calls compute again, so that
// writes of others aren't lost. Without a difference it sends nothing, and the result is Unchanged.
//
// compute returns a changed copy and must not change its argument. It may return its argument or nil to leave the
// object as it is, for example because another owner has taken it meanwhile. Changes of the status aren't written, see
// SetStatus. An error of compute is returned unchanged. A list that differs is written as a whole. If the object is
// absent, compute isn't called and the result is Skipped.
func (m *Manager) Change(ctx context.Context, ref Ref, compute func(current *unstructured.Unstructured) (*unstructured.Unstructured, error)) (Result, error) {
	c := change{manager: m, requests: m.requests(m.settings), ref: ref}
	c.content = func(current *unstructured.Unstructured) (before, after map[string]any, err error) {
		next, err := compute(current)
		if err != nil || next == nil || next.Object == nil || sameMap(next.Object, current.Object) {
			return nil, nil, err
		}
		return withoutStatus(current.Object), withoutStatus(next.Object), nil
	}
	return c.run(ctx)
}

// SetStatus sets the status of the object to the status that compute returns for its current state. It is Change for
// the status subresource. To share a status with other managers, use ApplyStatus. compute must not change its argument.
// If the kind has no status subresource, the error is an *InvalidError.
func (m *Manager) SetStatus(ctx context.Context, ref Ref, compute func(current *unstructured.Unstructured) (map[string]any, error)) (Result, error) {
	c := change{manager: m, requests: m.requests(m.settings), ref: ref, subresource: "status"}
	c.content = func(current *unstructured.Unstructured) (before, after map[string]any, err error) {
		present, _ := current.Object["status"].(map[string]any)
		next, err := compute(current)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: status: %w", ref, err)
		}
		if sameMap(next, present) {
			return nil, nil, nil
		}
		return map[string]any{"status": orEmpty(present)}, map[string]any{"status": orEmpty(next)}, nil
	}
	return c.run(ctx)
}

// change is one call of Change or SetStatus.
type change struct {
	manager     *Manager
	requests    requests
	ref         Ref
	subresource string
	// content returns the present content of the object and the new content. Both are nil if nothing has to change.
	content func(current *unstructured.Unstructured) (before, after map[string]any, err error)
	// resent means that a write was sent again and refused then. Its first try may have changed the object.
	resent bool
}

func (c *change) run(ctx context.Context) (Result, error) { return c.finish(c.attempts(ctx)) }

// finish completes the result of the last attempt.
func (c *change) finish(result Result, err error) (Result, error) {
	result.Ref, result.Calls, result.Err = c.ref, int(c.requests.calls.Load()), err
	if err != nil {
		result.Action = failure(c.ref, err).Action
	}
	return result, err
}

func (c *change) attempts(ctx context.Context) (Result, error) {
	current, err := c.manager.read(ctx, c.requests.retryFor, c.ref)
	for attempt := 1; ; attempt++ {
		if err != nil || current == nil {
			return Result{Action: Skipped}, err
		}
		body, err := c.body(current)
		if err != nil {
			return Result{}, err
		}
		if body == nil {
			return c.asItIs(current), nil
		}
		result, err := c.patch(ctx, current, body)
		if attempt == maxAttempts || !is[*StaleError](err) && !is[*NotFoundError](err) || attempt > 1 && !pause(ctx, attempt) {
			return result, err
		}
		if current, err = c.again(ctx, current, err); err != nil {
			return Result{}, err
		}
	}
}

// asItIs returns the result for an object that is as it should be. If the response to a write was lost, that write may
// have made it so.
func (c *change) asItIs(current *unstructured.Unstructured) Result {
	if c.resent {
		return Result{Action: Configured, Object: current}
	}
	return Result{Action: Unchanged, Object: current}
}

// again reads the object after a refused patch. A patch returns 404 for an absent object, and also for a kind without
// the subresource. If the same object still exists, the subresource is missing.
func (c *change) again(ctx context.Context, before *unstructured.Unstructured, refused error) (*unstructured.Unstructured, error) {
	current, err := c.requests.Get(ctx, c.ref)
	if err == nil && current != nil && c.subresource != "" && is[*NotFoundError](refused) && current.GetUID() == before.GetUID() {
		err = &InvalidError{Ref: c.ref, Err: errors.New("its kind has no status subresource: add it to the CustomResourceDefinition")}
	}
	return current, err
}

func (c *change) patch(ctx context.Context, current *unstructured.Unstructured, body []byte) (Result, error) {
	s, sent := c.manager.settings, c.requests.calls.Load()
	obj, err := c.requests.Patch(ctx, c.ref, PatchRequest{
		Type: types.MergePatchType, Body: body, Subresource: c.subresource, FieldManager: s.fieldManager, DryRun: s.dryRun,
	})
	if err != nil {
		c.resent = c.resent || c.requests.calls.Load() > sent+1
		return Result{}, err
	}
	if !s.dryRun && isState(obj, current) {
		// The patch changed nothing, because the schema defaults or drops the differences. The cluster can't store the
		// state that compute returned.
		return Result{Action: Unchanged, Object: obj}, nil
	}
	return Result{Action: Configured, Object: obj}, nil
}

// body returns the patch, nil if nothing has to change.
func (c *change) body(current *unstructured.Unstructured) ([]byte, error) {
	before, after, err := c.content(current)
	if err != nil || after == nil {
		return nil, err
	}
	// Convert both: the stored content may have nulls and fractions that asJSON changes.
	if before, err = asJSON(before); err == nil {
		after, err = asJSON(after)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", c.ref, cmp.Or(c.subresource, "change"), err)
	}
	difference := mergeDifference(before, after)
	if len(difference) == 0 {
		return nil, nil
	}
	metadata, _ := difference["metadata"].(map[string]any)
	metadata = orEmpty(metadata)
	metadata["uid"], metadata["resourceVersion"] = string(current.GetUID()), current.GetResourceVersion()
	difference["metadata"] = metadata
	return json.Marshal(difference)
}

// withoutStatus returns the fields that Change compares: all except the status and the metadata that the server sets.
func withoutStatus(content map[string]any) map[string]any {
	content = maps.Clone(content)
	delete(content, "status")
	metadata, _ := content["metadata"].(map[string]any)
	metadata = maps.Clone(metadata)
	for _, key := range movingFields {
		delete(metadata, key)
	}
	content["metadata"] = orEmpty(metadata)
	return content
}

func orEmpty(content map[string]any) map[string]any {
	if content == nil {
		return map[string]any{}
	}
	return content
}
