package deploy

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Delete removes objects, last one first; only kind, name and namespace of them count. An
// absent object and one that is being deleted already cost no call (Skipped). An object
// that isn't the owner's is left alone (Conflicted). Every deletion carries the uid that
// was looked at, so that a successor of the same name is never hit. Delete doesn't wait:
// see Gone. The results stand in the order of objects.
func (m *Manager) Delete(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Results, error) {
	s, err := m.settings.with(options)
	if err != nil {
		return nil, err
	}
	results := make(Results, len(objects))
	for i := len(objects) - 1; i >= 0; i-- {
		t := task{Manager: m, settings: s, port: m.requests(s)}
		results[i] = t.deleteOne(ctx, objects[i])
		results[i].Calls = int(t.port.calls.Load())
	}
	return results, results.Err()
}

func (t *task) deleteOne(ctx context.Context, obj *unstructured.Unstructured) Result {
	ref, _, err := t.locate(ctx, t.settings, obj)
	if err != nil {
		var unknown *KindUnknownError
		if errors.As(err, &unknown) {
			return Result{Ref: ref, Action: Skipped}
		}
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	live, err := t.read(ctx, t.settings, ref)
	switch {
	case err != nil:
		return Result{Ref: ref, Action: Failed, Err: err}
	case live == nil:
		return Result{Ref: ref, Action: Skipped}
	case live.GetDeletionTimestamp() != nil:
		return Result{Ref: ref, Action: Skipped, Object: live}
	}
	if err := t.checkOwnership(ref, live); err != nil {
		return Result{Ref: ref, Action: Conflicted, Object: live, Err: err}
	}
	err = t.port.Delete(ctx, ref, DeleteOptions{UID: live.GetUID(), DryRun: t.dryRun})
	switch {
	case isNotFound(err) && t.port.calls.Load() > 1:
		// The first try did it without being answered.
	case isNotFound(err):
		return Result{Ref: ref, Action: Skipped}
	case err != nil:
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	return Result{Ref: ref, Action: Removed, Object: live}
}

// Gone returns those of objects that still exist and may be waited for: present, and not
// somebody else's. It reads the View only.
func (m *Manager) Gone(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (remaining []Ref, err error) {
	s, err := m.settings.with(options)
	if err != nil {
		return nil, err
	}
	for _, obj := range objects {
		ref, _, err := m.locate(ctx, s, obj)
		var unknown *KindUnknownError
		if errors.As(err, &unknown) {
			continue
		}
		if err != nil {
			return remaining, err
		}
		live, err := m.view.Get(ctx, ref)
		if err != nil {
			return remaining, err
		}
		if live != nil && s.checkOwnership(ref, live) == nil {
			remaining = append(remaining, ref)
		}
	}
	return remaining, nil
}
