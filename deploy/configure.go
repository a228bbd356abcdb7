package deploy

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// configureAttempts bounds how often an object is looked at anew because the cluster has another
// one than the View showed.
const configureAttempts = 5

// existing does what the strategy asks for of an object that is there.
func (t *task) existing(ctx context.Context, live *unstructured.Unstructured) Result {
	for attempt := 1; ; attempt++ {
		result := t.configure(ctx, live)
		var stale *StaleError
		var conflict *ConflictError
		partial := errors.Is(result.Err, errPartial)
		outdated := errors.As(result.Err, &stale) || errors.As(result.Err, &conflict) && conflict.Err != nil
		if !partial && (!outdated || attempt == configureAttempts) {
			return result
		}
		if attempt > 1 && !partial && !t.pause(ctx, attempt) {
			return result
		}
		current, err := t.port.Get(ctx, t.in.ref)
		switch {
		case isNotFound(err):
			return t.create(ctx)
		case err != nil:
			return Result{Ref: t.in.ref, Action: Failed, Err: err}
		case !partial && isState(current, live) && (conflict == nil || t.reported != nil):
			return result
		case conflict != nil && isState(current, live):
			t.reported = conflict.Fields // the cluster knows more than what can be seen
		default:
			t.reported = nil
		}
		live, t.partial = current, false
	}
}

// configure makes one try. It is errPartial, before anything is sent, when more of live has to be known.
func (t *task) configure(ctx context.Context, live *unstructured.Unstructured) Result {
	if live.GetDeletionTimestamp() != nil {
		err := &TerminatingError{Ref: t.in.ref, Finalizers: live.GetFinalizers()}
		return Result{Ref: t.in.ref, Action: Skipped, Object: live, Err: err}
	}
	if err := t.checkOwnership(t.in.ref, live); err != nil {
		return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}
	}
	live, err := t.upgrade(ctx, live)
	if err != nil {
		return failure(t.in.ref, err)
	}
	wanted := withoutScaled(t.in.object, live, t.fieldManager)
	unchanged, err := t.unchanged(wanted, live)
	switch {
	case err != nil:
		return failure(t.in.ref, err)
	case unchanged:
		return Result{Ref: t.in.ref, Action: Unchanged, Object: live}
	case t.in.strategy == OnDelete:
		return Result{Ref: t.in.ref, Action: Skipped, Object: live}
	case t.partial && t.in.strategy.recreates():
		return failure(t.in.ref, errPartial)
	}
	if fields := t.declaredChanges(wanted, live); len(fields) > 0 && t.in.strategy.recreates() {
		return t.recreate(ctx, live, fields)
	}
	settled := t.settle(t.settings, wanted, live)
	if t.partial && settled.contested() {
		return failure(t.in.ref, errPartial) // what looks contested may have the value that is wanted
	}
	if len(settled.refused) > 0 {
		return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: &ConflictError{Ref: t.in.ref, Fields: settled.refused}}
	}
	result := t.write(ctx, settled, live)
	if fields := t.refused(result.Err, wanted, live); len(fields) > 0 {
		return t.recreate(ctx, live, fields)
	}
	if len(settled.fought) > 0 && result.Err == nil {
		result.Action, result.Err = Conflicted, &ConflictError{Ref: t.in.ref, Fields: settled.fought, Fought: true}
	}
	return result
}

// write applies what is settled, unless that is there already.
func (t *task) write(ctx context.Context, settled settlement, live *unstructured.Unstructured) Result {
	result := Result{Ref: t.in.ref, Action: Unchanged, Object: live, Kept: append(settled.kept, settled.fought...)}
	if unchanged, err := t.unchanged(settled.wanted, live); err != nil {
		return failure(t.in.ref, err)
	} else if unchanged {
		return result
	}
	wanted := settled.wanted.DeepCopy()
	// The uid makes sure that a deleted object isn't brought back by a write that meant the old one.
	wanted.SetUID(live.GetUID())
	applied, taken, err := t.applyOver(ctx, wanted, live, settled.taken)
	if err != nil {
		return failure(t.in.ref, err)
	}
	result.Object, result.Taken, result.Warnings = applied.Object, taken, applied.Warnings
	if !t.partial && !applied.Partial {
		result.Changes = t.changes(live, applied.Object)
	}
	if !t.dryRun {
		t.takeovers.took(live.GetUID(), taken)
		if applied.Object.GetResourceVersion() == live.GetResourceVersion() {
			// The cluster keeps less of the intent than was sent, and that it had already.
			result.Object = live
			return result
		}
	}
	result.Action = actionOf(applied)
	return result
}

// applyOver applies wanted and takes fields from others. Where the cluster has reported more contested
// fields than live shows, those are taken too if that is the policy. Force takes whatever is contested:
// it is for the very state that was looked at, or a scaler's latest word would go too.
func (t *task) applyOver(ctx context.Context, wanted, live *unstructured.Unstructured, taken []FieldConflict) (Applied, []FieldConflict, error) {
	if len(t.reported) > 0 && t.mayTake(t.reported, live) {
		taken = t.reported
	}
	options := ApplyOptions{FieldManager: t.fieldManager, Force: len(taken) > 0, DryRun: t.dryRun}
	if options.Force {
		wanted.SetResourceVersion(live.GetResourceVersion())
	}
	applied, err := t.port.Apply(ctx, wanted, options)
	return applied, taken, err
}

// mayTake tells whether all of some contested fields are to be taken over.
func (t *task) mayTake(fields []FieldConflict, live *unstructured.Unstructured) bool {
	return !slices.ContainsFunc(fields, func(c FieldConflict) bool {
		return t.conflictPolicy(c.Field, t.takesBack(live)) != Force || t.takeovers.tooOften(live.GetUID(), c)
	})
}

// unchanged: the intent is the one applied last, and nobody has touched a field of it.
func (t *task) unchanged(wanted, live *unstructured.Unstructured) (bool, error) {
	metadata, _ := live.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if annotations[t.hashKey()] != t.in.hash {
		return false, nil
	}
	covered, doubtful := coverage(live, t.fieldManager, wanted.Object, t.partial)
	if covered && doubtful {
		return false, errPartial
	}
	return covered, nil
}
