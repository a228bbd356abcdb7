package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/resource"
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
		if live.GetAnnotations()[t.hashKey()] == t.in.hash && t.isThere(live) && sameMetadata(next, live) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live}
		}
		if err := t.besideRival(live); err != nil {
			return Result{Ref: t.in.ref, Action: Conflicted, Object: live, Err: err}
		}
		// The cluster knows better who owns what: a View may leave out entries that nobody reads, and those of an update are taken for all.
		next.SetManagedFields(nil)
		stored, err := t.updateKeeping(ctx, next, live)
		if err == nil && !t.dryRun && isState(stored, live) {
			return Result{Ref: t.in.ref, Action: Unchanged, Object: live} // what the cluster makes of it is there
		}
		if err == nil {
			return Result{Ref: t.in.ref, Action: Replaced, Object: stored, Changes: t.changes(live, stored)}
		}
		var stale *StaleError
		if !errors.As(err, &stale) || attempt == configureAttempts {
			return failure(t.in.ref, t.advise(ctx, live, err))
		}
		if attempt > 1 && !t.pause(ctx, attempt) {
			return failure(t.in.ref, err)
		}
		if live, err = t.port.Get(ctx, t.in.ref); err != nil {
			return Result{Ref: t.in.ref, Action: Failed, Err: err}
		} else if live == nil {
			return t.create(ctx)
		}
	}
}

// isThere reports whether live has all of the intent, but for what a scaler set.
func (t *task) isThere(live *unstructured.Unstructured) bool {
	return within(withoutMetadata(withoutScaled(t.in.object, live, t.fieldManager)), live.Object, equality(live))
}

// equality returns how values of an object are compared: those of the kinds whose quantities the API server stores in
// another form by what they mean.
func equality(live *unstructured.Unstructured) func(want, have any) bool {
	kind := live.GroupVersionKind()
	if isBuiltIn(kind.Group) && kind.Kind != "ConfigMap" && kind.Kind != "Secret" {
		return sameOrCanonical
	}
	return sameValue
}

// sameOrCanonical is sameValue, where a quantity is also the same as the form in which the API server stores it.
func sameOrCanonical(want, have any) bool {
	if sameValue(want, have) {
		return true
	}
	stored, isText := have.(string)
	if !isText {
		return false
	}
	quantity, err := resource.ParseQuantity(fmt.Sprint(want))
	return err == nil && quantity.String() == stored
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
	if len(below)+len(above) == 0 {
		return nil
	}
	out := make(map[string]string, len(below)+len(above))
	for _, entries := range []map[string]string{below, above} {
		for key, value := range entries {
			out[key] = value
		}
	}
	return out
}

func withoutMetadata(obj *unstructured.Unstructured) map[string]any {
	out := make(map[string]any, len(obj.Object))
	for field, value := range obj.Object {
		if field != "metadata" {
			out[field] = value
		}
	}
	return out
}

func sameMetadata(a, b *unstructured.Unstructured) bool {
	return sameValue(a.Object["metadata"], b.Object["metadata"])
}
