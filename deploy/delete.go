package deploy

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Propagate sets what happens to the objects that a deleted object owns. The default is
// metav1.DeletePropagationBackground.
func Propagate(propagation metav1.DeletionPropagation) Option {
	return func(s *settings) { s.propagation = propagation }
}

// EvenForeign makes Delete also delete objects that aren't ours.
func EvenForeign() Option { return func(s *settings) { s.evenForeign = true } }

// UntilGone makes Delete wait until the objects are gone, after it has requested all deletions. It waits until the
// deadline of ctx, or for DefaultWait if ctx has none. An object that isn't gone in time is Failed with a *TimeoutError
// that names its finalizers.
func UntilGone() Option { return func(s *settings) { s.untilGone = true } }

// Delete requests the deletion of objects, the last one first. Namespaces and CustomResourceDefinitions are deleted
// after all others. Delete uses only the kind, name and namespace of the objects. An object that is absent or being
// deleted already costs no call (Skipped). An object that isn't ours is left alone (Conflicted), see EvenForeign. With
// an owner (OwnedBy), an object is ours if the owner owns it, but not if the owner only may adopt it. Without an owner,
// an object is ours if this manager has applied it. Every request has the uid of the object that was read, so a new
// object of the same name is never deleted. Delete doesn't wait, see UntilGone and Gone. The results are in the order
// of objects.
func (m *Manager) Delete(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Results, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	results := make(Results, len(objects))
	for _, i := range lastFirst(objects) {
		t := task{Manager: m, settings: s, port: m.requests(s)}
		results[i] = t.deleteOne(ctx, objects[i])
		results[i].Calls = int(t.port.calls.Load())
	}
	if s.untilGone && !s.dryRun {
		ctx, cancel := waiting(ctx)
		defer cancel()
		for i := range results {
			m.waitDeleted(ctx, &results[i])
		}
	}
	return results, results.Err()
}

// waitDeleted waits until an object whose deletion was requested is gone.
func (m *Manager) waitDeleted(ctx context.Context, result *Result) {
	if result.Err != nil || result.Object == nil {
		return
	}
	if err := m.waitGone(ctx, result.Ref, result.Object); err != nil {
		result.Action, result.Err = Failed, err
		return
	}
	result.Object = nil
}

// lastFirst returns the indexes of objects from the last to the first, with the indexes of Namespaces and
// CustomResourceDefinitions at the end.
func lastFirst(objects []*unstructured.Unstructured) []int {
	var order, foundations []int
	for i := len(objects) - 1; i >= 0; i-- {
		if obj := objects[i]; obj != nil && isFoundation(obj.GroupVersionKind().GroupKind()) {
			foundations = append(foundations, i)
		} else {
			order = append(order, i)
		}
	}
	return append(order, foundations...)
}

func (t *task) deleteOne(ctx context.Context, obj *unstructured.Unstructured) Result {
	ref, _, err := t.locate(ctx, t.settings, obj)
	if err != nil {
		if is[*KindUnknownError](err) {
			return Result{Ref: ref, Action: Skipped}
		}
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	seen, err := t.see(ctx, t.retryFor, ref)
	live := seen.object
	switch {
	case err != nil:
		return Result{Ref: ref, Action: Failed, Err: err}
	case live == nil:
		return Result{Ref: ref, Action: Skipped}
	}
	if err := t.checkDeletable(ctx, t.settings, ref, live); err != nil {
		return Result{Ref: ref, Action: Conflicted, Object: live, Err: err}
	}
	if live.GetDeletionTimestamp() != nil {
		return Result{Ref: ref, Action: Skipped, Object: live}
	}
	err = t.port.Delete(ctx, ref, DeleteOptions{UID: live.GetUID(), Propagation: t.propagation, DryRun: t.dryRun})
	switch {
	case is[*NotFoundError](err) && t.port.calls.Load() > 1:
		// The first try succeeded, but its response was lost.
	case is[*NotFoundError](err):
		return Result{Ref: ref, Action: Skipped}
	case err != nil:
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	return Result{Ref: ref, Action: Removed, Object: live}
}

// checkDeletable returns an error unless live is ours to delete.
func (m *Manager) checkDeletable(ctx context.Context, s settings, ref Ref, live *unstructured.Unstructured) error {
	switch {
	case s.evenForeign:
		return nil
	case s.owner != nil:
		s.adoption = RefuseAdoption // an object that the owner may adopt isn't owned yet
		s.deletion = true
		return m.mayChange(ctx, s, ref, live)
	case s.hasApplied(live):
		return nil
	}
	owned := &OwnedError{Ref: ref, Deletion: true}
	if references := live.GetOwnerReferences(); len(references) > 0 {
		owned.Owner = describeOwner(references[0])
	}
	return owned
}

// hasApplied reports whether this manager has applied live.
func (s settings) hasApplied(live *unstructured.Unstructured) bool {
	if annotation(live, s.hashKey()) != "" {
		return true
	}
	ours, _ := appliedFields(live, s.fieldManager)
	return ours != nil
}

// Gone returns the objects that still exist and that Delete with the same options would delete. It reads only from the
// View.
func (m *Manager) Gone(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (remaining []Ref, err error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	for _, obj := range objects {
		ref, _, err := m.locate(ctx, s, obj)
		if is[*KindUnknownError](err) {
			continue
		}
		if err != nil {
			return remaining, err
		}
		seen, err := m.see(ctx, s.retryFor, ref)
		live := seen.object
		if err != nil {
			return remaining, err
		}
		if live != nil && m.checkDeletable(ctx, s, ref, live) == nil {
			remaining = append(remaining, ref)
		}
	}
	return remaining, nil
}
