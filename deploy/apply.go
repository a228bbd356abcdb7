package deploy

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Apply makes the cluster hold objects as they are given, one after the other, and tells
// for each what became of it. An object that is as it should be costs no call. The error
// joins those of the results. A failed object doesn't keep the others from being applied,
// see StopOnFailure; the same object twice in one call is an error before anything is sent.
func (m *Manager) Apply(ctx context.Context, objects []*unstructured.Unstructured, options ...Option) (Results, error) {
	s, err := m.settings.with(options)
	if err != nil {
		return nil, err
	}
	if err := s.checkDuplicates(objects); err != nil {
		return nil, err
	}
	results := make(Results, 0, len(objects))
	for _, obj := range objects {
		if ctx.Err() != nil {
			return results, errors.Join(results.Err(), context.Cause(ctx))
		}
		result := m.applyOne(ctx, s, obj)
		results = append(results, result)
		if result.Err != nil && s.stopOnFailure {
			break
		}
	}
	return results, results.Err()
}

func (s settings) checkDuplicates(objects []*unstructured.Unstructured) error {
	seen := make(map[Ref]bool, len(objects))
	for _, obj := range objects {
		if obj == nil || obj.Object == nil {
			continue
		}
		ref := RefOf(obj)
		if ref.Namespace == "" && s.owner != nil {
			ref.Namespace = s.owner.GetNamespace()
		}
		if seen[ref] && ref.Name != "" {
			return &InvalidManifestError{Ref: ref, Reason: "it is given twice in one set"}
		}
		seen[ref] = true
	}
	return nil
}

func (m *Manager) applyOne(ctx context.Context, s settings, obj *unstructured.Unstructured) Result {
	in, err := m.newIntent(ctx, s, obj)
	if err != nil {
		ref := Ref{}
		if obj != nil && obj.Object != nil {
			ref = RefOf(obj)
		}
		return Result{Ref: ref, Action: Failed, Err: err}
	}
	live, err := m.view.Get(ctx, in.ref)
	if err != nil {
		return Result{Ref: in.ref, Action: Failed, Err: err}
	}
	if live == nil {
		return m.create(ctx, s, in)
	}
	return m.configure(ctx, s, in, live)
}

// create applies an object that is believed to be absent: without force, so that an object
// that somebody made meanwhile loses nothing, and with a look at whether it was created.
func (m *Manager) create(ctx context.Context, s settings, in *intent) Result {
	applied, err := m.port.Apply(ctx, in.object, ApplyOptions{FieldManager: s.fieldManager, DryRun: s.dryRun})
	if err != nil {
		return failure(in.ref, err)
	}
	if applied.Created || s.owner == nil {
		return Result{Ref: in.ref, Action: actionOf(applied), Object: applied.Object}
	}
	if foreign := m.foreign(s, applied.Object); foreign != nil && s.checkAdoption(*foreign) != nil {
		return m.withdraw(ctx, s, in, *foreign)
	}
	return Result{Ref: in.ref, Action: Configured, Object: applied.Object}
}

// foreign returns the owners that obj has beside ours when others have written to it, nil
// when it is all ours (an own write that the view hadn't shown).
func (m *Manager) foreign(s settings, obj *unstructured.Unstructured) *OwnedError {
	others := false
	for _, entry := range managedEntries(obj) {
		if entry["manager"] != s.fieldManager && entry["subresource"] == nil {
			others = true
		}
	}
	if !others {
		return nil
	}
	owned := &OwnedError{Ref: RefOf(obj)}
	for _, reference := range obj.GetOwnerReferences() {
		if reference.UID != s.owner.GetUID() {
			owned.Owner = reference.Kind + " " + reference.Name + " (uid " + string(reference.UID) + ")"
		}
	}
	return owned
}

func (s settings) checkAdoption(owned OwnedError) error {
	if owned.Owner == "" && s.adoption == AdoptUnowned {
		return nil
	}
	return &owned
}

// withdraw takes our fields, the owner reference among them, off an object that turned out
// to be somebody else's: an apply of nothing gives up all that our manager held.
func (m *Manager) withdraw(ctx context.Context, s settings, in *intent, owned OwnedError) Result {
	nothing := &unstructured.Unstructured{}
	nothing.SetGroupVersionKind(in.ref.Kind)
	nothing.SetNamespace(in.ref.Namespace)
	nothing.SetName(in.ref.Name)
	if _, err := m.port.Apply(ctx, nothing, ApplyOptions{FieldManager: s.fieldManager, DryRun: s.dryRun}); err != nil {
		return Result{Ref: in.ref, Action: Conflicted, Err: fmt.Errorf("%w; and giving it back failed: %w", &owned, err)}
	}
	return Result{Ref: in.ref, Action: Conflicted, Err: &owned}
}

func (m *Manager) configure(ctx context.Context, s settings, in *intent, live *unstructured.Unstructured) Result {
	if live.GetDeletionTimestamp() != nil {
		err := &TerminatingError{Ref: in.ref, Finalizers: live.GetFinalizers()}
		return Result{Ref: in.ref, Action: Skipped, Object: live, Err: err}
	}
	if err := s.checkOwnership(in.ref, live); err != nil {
		return Result{Ref: in.ref, Action: Conflicted, Object: live, Err: err}
	}
	wanted := withoutScaled(in.object, live, s.fieldManager)
	if s.unchanged(in, wanted, live) {
		return Result{Ref: in.ref, Action: Unchanged, Object: live}
	}
	wanted = wanted.DeepCopy()
	// The uid makes sure that a deleted object isn't brought back by a write that meant the old one.
	wanted.SetUID(live.GetUID())
	applied, err := m.port.Apply(ctx, wanted, ApplyOptions{FieldManager: s.fieldManager, Force: true, DryRun: s.dryRun})
	if err != nil {
		return failure(in.ref, err)
	}
	if !s.dryRun && applied.Object.GetResourceVersion() == live.GetResourceVersion() {
		// The cluster keeps less of the intent than was sent, and that it had already.
		return Result{Ref: in.ref, Action: Unchanged, Object: applied.Object}
	}
	return Result{Ref: in.ref, Action: actionOf(applied), Object: applied.Object}
}

// unchanged: the intent is the one applied last, and nobody has touched a field of it.
func (s settings) unchanged(in *intent, wanted, live *unstructured.Unstructured) bool {
	metadata, _ := live.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations[s.hashKey()] == in.hash && covered(live, s.fieldManager, wanted.Object)
}

func actionOf(applied Applied) Action {
	if applied.Created {
		return Created
	}
	return Configured
}

func failure(ref Ref, err error) Result {
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		return Result{Ref: ref, Action: Conflicted, Err: err}
	}
	return Result{Ref: ref, Action: Failed, Err: err}
}
