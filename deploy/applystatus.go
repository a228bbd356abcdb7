package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ApplyStatus applies the status that compute returns, by server-side apply of the status subresource. It is for a
// status that several managers share: compute returns only the fields of this manager. Fields that this manager applied
// before and compute leaves out are removed, and fields of others stay. If the CustomResourceDefinition declares the
// conditions as a map by type, each manager owns its own conditions. A list without such a declaration belongs to one
// manager as a whole.
//
// ApplyStatus sends nothing if this manager owns exactly these fields with these values. A field that another manager
// owns with another value is a conflict. The field is taken over if the policy allows it (see Conflicts), and is in
// Result.Taken. The default policy takes over fields if this manager has applied the status or the object before, if
// the Manager has an owner (OwnedBy), or if the other manager is a predecessor (such as its own SetStatus). Otherwise
// the result is Conflicted with a *ConflictError that names the fields, and nothing is applied. Keep is like Fail.
//
// The apply has the resourceVersion that compute saw as the precondition. If the object changed meanwhile, ApplyStatus
// reads it from the cluster and calls compute again. It then applies without a precondition, because other managers may
// write the status all the time; only an apply that takes over fields keeps the precondition. If an apply reaches a new
// object of the same name, compute is called for the new object.
//
// compute must not change its argument. A nil or empty status removes the fields of this manager. An error of compute
// is returned with the name of the object. If the object is absent, compute isn't called and the result is Skipped. If
// the kind has no status subresource, the error is an *InvalidError. Result.Changes is empty.
func (m *Manager) ApplyStatus(ctx context.Context, ref Ref, compute func(current *unstructured.Unstructured) (map[string]any, error)) (Result, error) {
	a := statusApply{change: change{manager: m, requests: m.requests(m.settings), ref: ref, subresource: "status"}, compute: compute}
	return a.finish(a.attempts(ctx))
}

// statusApply is one call of ApplyStatus.
type statusApply struct {
	change
	compute func(current *unstructured.Unstructured) (map[string]any, error)
	// fresh means that the current object was just read from the cluster.
	fresh bool
}

func (a *statusApply) attempts(ctx context.Context) (Result, error) {
	current, err := a.manager.read(ctx, a.requests.retryFor, a.ref)
	var taken []FieldConflict
	for attempt := 1; ; attempt++ {
		if err != nil || current == nil {
			return Result{Action: Skipped}, err
		}
		status, err := a.status(current)
		if err != nil {
			return Result{}, err
		}
		if a.isApplied(current, status) {
			return a.asItIs(current), nil
		}
		result, err := a.apply(ctx, current, status, taken)
		conflict, contested := errors.AsType[*ConflictError](err)
		switch {
		case attempt == maxAttempts:
			return result, err
		case err == nil && result.Object.GetUID() != current.GetUID():
			current, taken = result.Object, nil
			continue
		case contested && len(taken) == 0:
			if taken, err = a.mayTake(conflict, current); err != nil {
				return Result{Object: current}, err
			}
			continue
		case !is[*StaleError](err) && !is[*NotFoundError](err), attempt > 1 && !pause(ctx, attempt):
			return result, err
		}
		taken = nil // for the latest object, the cluster reports the conflicts again
		if current, err = a.again(ctx, current, err); err != nil {
			return Result{}, err
		}
		a.fresh = true
	}
}

// status returns the status of this manager, as the API server would decode it.
func (a *statusApply) status(current *unstructured.Unstructured) (map[string]any, error) {
	status, err := a.compute(current)
	if err == nil {
		status, err = asJSON(orEmpty(status))
	}
	if err == nil {
		status, err = plainMap(status)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: status: %w", a.ref, err)
	}
	return status, nil
}

// isApplied reports whether this manager owns exactly the fields of status on live, with these values.
func (a *statusApply) isApplied(live *unstructured.Unstructured, status map[string]any) bool {
	entry, others := statusFields(live, a.manager.settings.fieldManager)
	ours := entry.below("f:status")
	if len(status) == 0 || len(ours) == 0 {
		return len(status) == 0 && entry == nil
	}
	whole := place{ours: entry, others: others, live: live.Object, content: &knownContent{}}
	return whole.coversField("status", status) && !ours.exceeds(status) && within(status, ours.of(live.Object["status"]), equality(live))
}

// statusFields returns the fields that manager owns by applies of the status, and the field sets of all other entries.
// ours is nil if manager has no such entry for the version of live.
func statusFields(live *unstructured.Unstructured, manager string) (ours fieldSet, others []fieldSet) {
	for _, entry := range managedEntries(live) {
		if entry["manager"] == manager && entry["operation"] == "Apply" && entry["subresource"] == "status" && entry["apiVersion"] == live.GetAPIVersion() {
			ours = entry.fields()
		} else {
			others = append(others, entry.fields())
		}
	}
	return ours, others
}

// apply sends the status. The version of current is the precondition, unless current is fresh and no fields are taken
// over. The uid can't be the precondition: API servers ignore it in an apply of the status of a custom resource.
func (a *statusApply) apply(ctx context.Context, current *unstructured.Unstructured, status map[string]any, taken []FieldConflict) (Result, error) {
	s, sent := a.manager.settings, a.requests.calls.Load()
	intent := emptyOf(a.ref)
	if len(status) > 0 {
		intent.Object["status"] = status
	}
	options := ApplyOptions{FieldManager: s.fieldManager, Force: len(taken) > 0, DryRun: s.dryRun, Subresource: a.subresource}
	if !a.fresh || options.Force {
		intent.SetResourceVersion(current.GetResourceVersion())
	}
	applied, err := a.requests.Apply(ctx, intent, options)
	if err != nil {
		a.resent = a.resent || a.requests.calls.Load() > sent+1
		return Result{}, err
	}
	result := Result{Action: Configured, Object: applied.Object, Taken: taken, Warnings: applied.Warnings}
	if s.dryRun {
		return result, nil
	}
	a.manager.memory.fights.took(current.GetUID(), taken)
	if isState(applied.Object, current) {
		result.Action = Unchanged // the cluster doesn't store all fields of the status
	}
	return result, nil
}

// mayTake returns the contested fields if the policies allow to take over all of them. Otherwise it returns an error.
func (a *statusApply) mayTake(conflict *ConflictError, live *unstructured.Unstructured) ([]FieldConflict, error) {
	s := a.manager.settings
	applied, _ := statusFields(live, s.fieldManager)
	for _, c := range conflict.Fields {
		ours := applied != nil || s.takesBack(live) || s.isPredecessor(c.Manager)
		if s.conflictPolicy(c.Field, ours) != Force {
			return nil, conflict
		}
	}
	tooOften := func(c FieldConflict) bool { return a.manager.memory.fights.tooOften(live.GetUID(), c) }
	if fought := slices.DeleteFunc(slices.Clone(conflict.Fields), func(c FieldConflict) bool { return !tooOften(c) }); len(fought) > 0 {
		return nil, &ConflictError{Ref: a.ref, Fields: fought, Fought: true, Err: conflict.Err}
	}
	return conflict.Fields, nil
}
