package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// maxAttempts limits how often a write is tried if the object in the cluster has changed since it was read.
const maxAttempts = 5

// existing applies the strategy to an object that exists.
func (t *task) existing(ctx context.Context, live *unstructured.Unstructured) Result {
	for attempt := 1; ; attempt++ {
		result, enough := t.configure(ctx, live)
		var conflict *ConflictError
		outdated := is[*StaleError](result.Err) || errors.As(result.Err, &conflict) && conflict.Err != nil
		if enough && (!outdated || attempt == maxAttempts) {
			return result
		}
		if enough && attempt > 1 && !pause(ctx, attempt) {
			return result
		}
		current, err := t.current(ctx)
		switch {
		case err != nil:
			return failure(t.in.ref, err)
		case current == nil:
			return t.create(ctx)
		case enough && isState(current, live) && (conflict == nil || t.reported != nil):
			return result
		case conflict != nil && isState(current, live):
			t.reported = conflict.Fields // the cluster may report more conflicts than the View shows
		default:
			t.reported = nil
		}
		live, t.partial = current, false
	}
}

// configure makes one attempt. If live has only metadata and more is needed, it sends no write and returns false for
// enough.
func (t *task) configure(ctx context.Context, live *unstructured.Unstructured) (result Result, enough bool) {
	if result, barred := t.barred(ctx, live); barred {
		return result, true
	}
	live, err := t.upgrade(ctx, live)
	if err != nil {
		return failure(t.in.ref, err), true
	}
	wanted := withoutScaled(t.in.object, live, t.fieldManager)
	t.scaled = scaledFields(t.in.object, live, t.fieldManager, t.partial)
	unchanged, needsContent := t.unchanged(wanted, live)
	switch {
	case needsContent:
		return Result{}, false
	case unchanged:
		return Result{Ref: t.in.ref, Action: Unchanged, Object: live}, true
	case t.in.strategy == OnDelete:
		return t.leave(ctx, live, Skipped), true
	case t.partial && t.in.strategy.recreates():
		return Result{}, false
	}
	if err := t.checkFight(live); err != nil {
		return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}, true
	}
	if fields := t.declaredChanges(wanted, live); len(fields) > 0 && t.in.strategy.recreates() {
		return t.recreate(ctx, live, fmt.Errorf("%s: declared as immutable", strings.Join(fields, ", "))), true
	}
	if t.in.strategy == RecreateOnChange && t.intentChanged(live) {
		return t.recreate(ctx, live, errIntentChanged), true
	}
	drifted := t.partial && t.appliedLast(live)
	decided := t.decide(t.settings, wanted, live, drifted)
	if t.partial && decided.contested() && !(drifted && decided.onlyTakes()) {
		return Result{}, false // the contested fields may have the intended values already
	}
	if len(decided.refused) > 0 {
		return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: &ConflictError{Ref: t.in.ref, Fields: decided.refused}}, true
	}
	return t.carryOut(ctx, decided, live), true
}

// barred returns the result for an object that is being deleted or isn't ours. It returns false for other objects.
func (t *task) barred(ctx context.Context, live *unstructured.Unstructured) (result Result, barred bool) {
	ref := t.in.ref
	ref.Name = live.GetName() // the Ref of a manifest with generateName has no name
	result = Result{Ref: ref, Object: live}
	if live.GetDeletionTimestamp() != nil {
		result.Action, result.Err = Skipped, &TerminatingError{Ref: result.Ref, Finalizers: live.GetFinalizers()}
	} else if err := t.mayChange(ctx, t.settings, ref, live); err != nil {
		result.Action, result.Err = Conflicted, err
	}
	return result, result.Err != nil
}

// carryOut carries out a decision.
func (t *task) carryOut(ctx context.Context, decided decision, live *unstructured.Unstructured) Result {
	result := t.write(ctx, decided, live)
	if isRefusedChange(result.Err) {
		result = t.afterRefusal(ctx, decided, live, result)
	}
	if len(decided.fought) > 0 && result.Err == nil {
		result.Action, result.Err = Conflicted, &ConflictError{Ref: t.in.ref, Fields: decided.fought, Fought: true}
	}
	return result
}

// afterRefusal handles a change that the cluster has refused. It tries to switch a union by two applies, and otherwise
// recreates the object if the strategy allows it.
func (t *task) afterRefusal(ctx context.Context, decided decision, live *unstructured.Unstructured, refused Result) Result {
	live, err := t.complete(ctx, live)
	if err != nil || live == nil {
		return refused
	}
	if switched, ok := t.switchUnions(ctx, decided, live, refused.Err); ok {
		return switched
	}
	if t.in.strategy.recreates() {
		return t.recreate(ctx, live, refused.Err)
	}
	refused.Err = t.advise(ctx, live, refused.Err)
	return refused
}

// write applies the intent of a decision, unless the object has all its values already.
func (t *task) write(ctx context.Context, decided decision, live *unstructured.Unstructured) Result {
	result := Result{Ref: t.in.ref, Action: Unchanged, Object: live, Kept: append(decided.kept, decided.fought...)}
	// Without contested fields, configure has already checked this.
	if decided.contested() {
		if unchanged, _ := t.unchanged(decided.wanted, live); unchanged {
			return result
		}
	}
	wanted := decided.wanted.DeepCopy()
	// The uid prevents this write from creating the object again if it was deleted meanwhile.
	wanted.SetUID(live.GetUID())
	applied, taken, err := t.applyOver(ctx, wanted, live, decided.taken)
	if err != nil {
		return failure(t.in.ref, err)
	}
	result.Object, result.Taken, result.Warnings = applied.Object, taken, applied.Warnings
	if !t.partial && !applied.Partial {
		result.Changes = t.changes(live, applied.Object)
	}
	if !t.dryRun {
		t.memory.fights.took(live.GetUID(), taken)
		if applied.Object.GetResourceVersion() == live.GetResourceVersion() {
			// The apply changed nothing, because the cluster doesn't store all fields of the intent.
			result.Object = live
			return result
		}
	}
	result.Action = actionOf(applied)
	return result
}

// applyOver applies wanted and takes over the fields in taken. If the cluster has reported conflicts that live doesn't
// show, it takes over the reported fields instead, if their policies allow this. A forced apply takes over every
// contested field. Therefore it has the resourceVersion of live as a precondition, so that it can't overwrite a value
// that a scaler has set since.
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

// mayTake reports whether the policies allow to take over all of fields, and no field was taken over too often.
func (t *task) mayTake(fields []FieldConflict, live *unstructured.Unstructured) bool {
	return !slices.ContainsFunc(fields, func(c FieldConflict) bool {
		return t.conflictPolicy(c.Field, t.takesBack(live)) != Force || t.memory.fights.tooOften(live.GetUID(), c)
	})
}
