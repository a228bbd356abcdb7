package deploy

import (
	"context"
	"errors"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// replace writes the whole content of an object, with its resourceVersion as the precondition, unless the object
// already matches the intent. It keeps top-level fields that the intent doesn't name, such as the status, and labels,
// annotations, finalizers and owner references of others. It removes top-level fields, labels and annotations that this
// manager wrote before and the intent omits.
func (t *task) replace(ctx context.Context, live *unstructured.Unstructured) Result {
	for attempt := 1; ; attempt++ {
		if result, barred := t.barred(ctx, live); barred {
			return result
		}
		t.scaled = scaledFields(t.in.object, live, t.fieldManager, false)
		next := replaced(t.in.object, live)
		dropOmitted(next, live, t.in.object, t.fieldManager)
		keepScaled(next, live, t.fieldManager)
		if live.GetAnnotations()[t.hashKey()] == t.in.hash && t.isThere(live) && sameValue(next.Object["metadata"], live.Object["metadata"]) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live}
		}
		if err := t.checkFight(live); err != nil {
			return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}
		}
		// Leave managedFields to the cluster: a View may leave out entries, and an update with managedFields replaces
		// all of them.
		next.SetManagedFields(nil)
		stored, err := t.updateKeeping(ctx, next, live)
		if err == nil && !t.dryRun && isState(stored, live) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live} // the cluster stores nothing new
		}
		if err == nil {
			return Result{Ref: t.in.ref, Action: Replaced, Object: stored, Changes: t.changes(live, stored)}
		}
		if !is[*StaleError](err) || attempt == maxAttempts {
			return failure(t.in.ref, t.advise(ctx, live, err))
		}
		if attempt > 1 && !pause(ctx, attempt) {
			return failure(t.in.ref, err)
		}
		if live, err = t.current(ctx); err != nil {
			return failure(t.in.ref, err)
		} else if live == nil {
			return t.create(ctx)
		}
	}
}

// isThere reports whether live has all fields of the intent, except for metadata and for fields that a scaler set.
func (t *task) isThere(live *unstructured.Unstructured) bool {
	wanted := maps.Clone(withoutScaled(t.in.object, live, t.fieldManager).Object)
	delete(wanted, "metadata")
	return within(wanted, live.Object, equality(live))
}

// replaced returns live with the content of an intent.
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
	owns := func(reference metav1.OwnerReference) bool { return ownedBy(live, reference.UID) }
	next.SetOwnerReferences(append(live.GetOwnerReferences(), slices.DeleteFunc(wanted.GetOwnerReferences(), owns)...))
	return next
}

// over returns the entries of both maps. If a key is in both, its value in above wins.
func over(below, above map[string]string) map[string]string {
	if len(below) == 0 {
		return above
	}
	out := maps.Clone(below)
	maps.Copy(out, above)
	return out
}

// fillAttempts limits how often an update is sent again with more fields of live. A server may name these fields one at
// a time.
const fillAttempts = 3

// updateKeeping writes next in place of live. The cluster may refuse the change of fields that the intent doesn't set
// in full, such as the selector that the cluster has set on a Job. Then updateKeeping keeps the values of live in these
// fields.
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

// wholeObject is the field name in the error of a validation rule for a whole custom resource.
const wholeObject = "<nil>"

// keepContent adds to content the fields of live that content lacks, but no metadata.
func keepContent(content, live map[string]any) {
	for name := range live {
		if name != "metadata" {
			keepAt(content, live, []any{name})
		}
	}
}

// keepAt copies to content the values that live has at path or below it, if they are missing in content.
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
				return // content lacks the list: don't add single items of it
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

// filled returns the value want, completed from the value have: what is missing or null in want comes from have. Lists
// of the same length are completed item by item.
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

// dropOmitted removes from next the top-level fields, labels and annotations that manager wrote before and the intent
// now omits, unless others own them, too. next is a copy of live with the intent's content.
func dropOmitted(next, live, intent *unstructured.Unstructured, manager string) {
	var ours, others []fieldSet
	for _, entry := range managedEntries(live) {
		if entry.manager() == manager && entry["subresource"] == nil {
			ours = append(ours, entry.fields())
		} else {
			others = append(others, entry.fields())
		}
	}
	drop := func(fields, wanted map[string]any, ours, others []fieldSet) {
		for name := range fields {
			_, still := wanted[name]
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
	wanted, _ := intent.Object["metadata"].(map[string]any)
	for _, marks := range []string{"labels", "annotations"} {
		fields, _ := metadata[marks].(map[string]any)
		wantedMarks, _ := wanted[marks].(map[string]any)
		at := func(sets []fieldSet) []fieldSet { return allBelow(allBelow(sets, "f:metadata"), "f:"+marks) }
		drop(fields, wantedMarks, at(ours), at(others))
	}
}

// causesOf returns the fields that the cluster named in a refusal.
func causesOf(err error) []InvalidField {
	if invalid, ok := errors.AsType[*InvalidError](err); ok {
		return invalid.Causes
	}
	return nil
}
