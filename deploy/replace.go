package deploy

import (
	"context"
	"errors"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// replace writes the whole content of an object under its resourceVersion, unless all of the intent is there. Fields at
// the top level that the intent doesn't name, such as the status, stay, and so do labels, annotations, finalizers and
// owner references of others. What this manager wrote there before goes.
func (t *task) replace(ctx context.Context, live *unstructured.Unstructured) Result {
	for attempt := 1; ; attempt++ {
		if live.GetDeletionTimestamp() != nil {
			return Result{Ref: t.in.ref, Action: Skipped, Object: live, Err: &TerminatingError{Ref: t.in.ref, Finalizers: live.GetFinalizers()}}
		}
		if err := t.mayChange(ctx, t.settings, t.in.ref, live); err != nil {
			return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}
		}
		t.scaled = scaledFields(t.in.object, live, t.fieldManager, false)
		next := replaced(t.in.object, live)
		dropUnsaid(next, live, t.in.object, t.fieldManager)
		keepScaled(next.Object, live, t.fieldManager)
		if live.GetAnnotations()[t.hashKey()] == t.in.hash && t.isThere(live) && sameValue(next.Object["metadata"], live.Object["metadata"]) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live}
		}
		if err := t.checkFight(live); err != nil {
			return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}
		}
		// The cluster knows better who owns what: a View may leave out entries that nobody reads, and those of an
		// update are taken for all.
		next.SetManagedFields(nil)
		stored, err := t.updateKeeping(ctx, next, live)
		if err == nil && !t.dryRun && isState(stored, live) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live} // what the cluster makes of it is there
		}
		if err == nil {
			return Result{Ref: t.in.ref, Action: Replaced, Object: stored, Changes: t.changes(live, stored)}
		}
		if !is[*StaleError](err) || attempt == configureAttempts {
			return failure(t.in.ref, t.advise(ctx, live, err))
		}
		if attempt > 1 && !t.pause(ctx, attempt) {
			return failure(t.in.ref, err)
		}
		if live, err = t.current(ctx); err != nil {
			return failure(t.in.ref, err)
		} else if live == nil {
			return t.create(ctx)
		}
	}
}

// isThere reports whether live has all of the intent, but for what a scaler set.
func (t *task) isThere(live *unstructured.Unstructured) bool {
	wanted := maps.Clone(withoutScaled(t.in.object, live, t.fieldManager).Object)
	delete(wanted, "metadata")
	return within(wanted, live.Object, equality(live))
}

// replaced is live with the content of an intent.
func replaced(intent, live *unstructured.Unstructured) *unstructured.Unstructured {
	next := live.DeepCopy()
	wanted := intent.DeepCopy()
	for field, value := range wanted.Object {
		if field != "metadata" && field != "status" {
			next.Object[field] = value
		}
	}
	next.SetLabels(over(live.GetLabels(), wanted.GetLabels()))
	next.SetAnnotations(over(live.GetAnnotations(), wanted.GetAnnotations()))
	finalizers := live.GetFinalizers()
	for _, finalizer := range wanted.GetFinalizers() {
		if !slices.Contains(finalizers, finalizer) {
			finalizers = append(finalizers, finalizer)
		}
	}
	next.SetFinalizers(finalizers)
	owners := live.GetOwnerReferences()
	for _, reference := range wanted.GetOwnerReferences() {
		if !ownedBy(live, reference.UID) {
			owners = append(owners, reference)
		}
	}
	next.SetOwnerReferences(owners)
	return next
}

// over is one map with the entries of another over its own; nil when there are none.
func over(below, above map[string]string) map[string]string {
	if len(below) == 0 {
		return above
	}
	out := maps.Clone(below)
	maps.Copy(out, above)
	return out
}

// fillAttempts bounds how often an update is sent again with more of what is on the live object: a server may name one
// field after the other.
const fillAttempts = 3

// updateKeeping writes next in the place of live. If the cluster refuses that for fields which the intent doesn't name
// in full, such as the selector that it gave a Job, they are kept as they are on live.
func (t *task) updateKeeping(ctx context.Context, next, live *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	options := UpdateOptions{FieldManager: t.fieldManager, DryRun: t.dryRun}
	stored, err := t.port.Update(ctx, next, options)
	for attempt := 0; isRefusedChange(err) && attempt < fillAttempts; attempt++ {
		filled := next.DeepCopy()
		for _, cause := range causesOf(err) {
			if cause.Field == wholeObject {
				keepContent(filled.Object, live.Object)
			} else {
				keepAt(filled.Object, live.Object, fieldSteps(cause.Field))
			}
		}
		if sameValue(filled.Object, next.Object) {
			break
		}
		next = filled
		stored, err = t.port.Update(ctx, next, options)
	}
	return stored, err
}

// wholeObject is how a server names the field for which a validation rule of a whole custom resource stands.
const wholeObject = "<nil>"

// keepContent gives content what it leaves out and live has, but for the metadata.
func keepContent(content, live map[string]any) {
	for name := range live {
		if name != "metadata" {
			keepAt(content, live, []any{name})
		}
	}
}

// keepAt gives content, at a path and below it, what it leaves out and live has.
func keepAt(content, live map[string]any, path []any) {
	have, there := valueAt(live, path)
	if !there || len(path) == 0 {
		return
	}
	parent := any(content)
	for i, step := range path[:len(path)-1] {
		below, there := valueAt(parent, []any{step})
		fields, isMap := parent.(map[string]any)
		if name, isName := step.(string); !there && isMap && isName {
			if _, isIndex := path[i+1].(int); isIndex {
				return // a list that isn't named isn't filled in parts
			}
			below = map[string]any{}
			fields[name] = below
		}
		parent = below
	}
	switch step := path[len(path)-1].(type) {
	case string:
		if fields, isMap := parent.(map[string]any); isMap {
			fields[step] = filled(fields[step], have)
		}
	case int:
		if list, isList := parent.([]any); isList && step < len(list) {
			list[step] = filled(list[step], have)
		}
	}
}

// filled is want with what it leaves out and have holds. Lists of the same length are filled item by item.
func filled(want, have any) any {
	switch have := have.(type) {
	case map[string]any:
		fields, isMap := want.(map[string]any)
		if want != nil && !isMap {
			return want
		}
		out := maps.Clone(have)
		for name, value := range fields {
			out[name] = filled(value, have[name])
		}
		return out
	case []any:
		list, isList := want.([]any)
		if !isList || len(list) != len(have) {
			break
		}
		out := make([]any, len(list))
		for i := range list {
			out[i] = filled(list[i], have[i])
		}
		return out
	}
	if want == nil {
		return have
	}
	return want
}

// dropUnsaid takes out of next, made of live, what manager wrote at the top level, or as a label or annotation, and the
// intent doesn't say any more. What others own too stays.
func dropUnsaid(next, live, intent *unstructured.Unstructured, manager string) {
	var ours, others []fieldSet
	for _, entry := range managedEntries(live) {
		if entry.manager() == manager && entry["subresource"] == nil {
			ours = append(ours, entry.fields())
		} else {
			others = append(others, entry.fields())
		}
	}
	drop := func(fields, said map[string]any, ours, others []fieldSet) {
		for name := range fields {
			_, still := said[name]
			if key := "f:" + name; !still && len(allBelow(ours, key)) > 0 && len(allBelow(others, key)) == 0 {
				delete(fields, name)
			}
		}
	}
	status, hasStatus := next.Object["status"]
	drop(next.Object, intent.Object, ours, others)
	if hasStatus {
		next.Object["status"] = status
	}
	metadata, _ := next.Object["metadata"].(map[string]any)
	said, _ := intent.Object["metadata"].(map[string]any)
	for _, marks := range []string{"labels", "annotations"} {
		fields, _ := metadata[marks].(map[string]any)
		saidMarks, _ := said[marks].(map[string]any)
		at := func(sets []fieldSet) []fieldSet { return allBelow(allBelow(sets, "f:metadata"), "f:"+marks) }
		drop(fields, saidMarks, at(ours), at(others))
	}
}

// causesOf returns the fields that the cluster named in a refusal.
func causesOf(err error) []InvalidField {
	var invalid *InvalidError
	if errors.As(err, &invalid) {
		return invalid.Causes
	}
	return nil
}
