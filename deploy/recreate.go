package deploy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// isRefusedChange reports whether the cluster refused a write for what the object holds, and named the fields. Then a
// new object may be accepted where the change of this one isn't. A refusal of the metadata is never of that kind: a new
// object would drop the owners, finalizers or annotations of others that are in the way.
func isRefusedChange(err error) bool {
	var invalid *InvalidError
	if !errors.As(err, &invalid) || len(invalid.Causes) == 0 {
		return false
	}
	for _, cause := range invalid.Causes {
		if field, _, _ := strings.Cut(cause.Field, "."); field == "" || field == "metadata" {
			return false
		}
	}
	return true
}

// recreate deletes an object that can't be changed, waits until it is gone, and creates it again. It keeps the object
// if the deletion would take data along, or if the cluster wouldn't accept the new object. refusal is why the object
// can't be changed. An object that isn't gone in time is created by the next Apply.
func (t *task) recreate(ctx context.Context, live *unstructured.Unstructured, refusal error) Result {
	ref := t.in.ref
	if err := t.checkLoss(ctx, live, refusal); err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	if err := t.checkSuccessor(ctx, live); err != nil {
		return Result{Ref: ref, Action: Failed, Object: live, Err: keptError(ref, refusal, err)}
	}
	options := DeleteOptions{UID: live.GetUID(), Propagation: t.recreatePropagation(), DryRun: t.dryRun}
	if err := t.port.Delete(ctx, ref, options); err != nil && !isNotFound(err) {
		return Result{Ref: ref, Action: Failed, Object: live, Err: err}
	}
	if t.dryRun {
		return Result{Ref: ref, Action: Recreated, Object: t.in.object}
	}
	if err := t.awaitDeletion(ctx, ref, live); err != nil {
		return Result{Ref: ref, Action: Removed, Err: err}
	}
	result := t.createInPlaceOf(ctx, live)
	switch {
	case result.Action == Created:
		result.Action = Recreated
	case result.Err != nil:
		result.Err = fmt.Errorf("it was deleted to be made anew, and isn't yet: %w", result.Err)
	}
	return result
}

// keptError is the error of an object that is left as it is, since neither its change nor a new object is accepted.
func keptError(ref Ref, refusal, successor error) error {
	return fmt.Errorf("%s: it is kept, because it can't be changed (%s), and a new one wouldn't be accepted: %w", ref, reason(refusal), successor)
}

// reason is the text of a refusal without the name of the object that stands before it.
func reason(refusal error) string {
	var invalid *InvalidError
	if errors.As(refusal, &invalid) && invalid.Err != nil {
		return invalid.Err.Error()
	}
	return refusal.Error()
}

func (t *task) recreatePropagation() metav1.DeletionPropagation {
	if t.in.strategy == RecreateOrphan {
		return metav1.DeletePropagationOrphan
	}
	return t.propagation
}

var statefulSet = schema.GroupKind{Group: "apps", Kind: "StatefulSet"}

// selectsAlike reports whether two workloads have the same selector, so that one adopts the Pods of the other.
func selectsAlike(a, b *unstructured.Unstructured) bool {
	selector := []any{"spec", "selector"}
	of, _ := valueAt(a.Object, selector)
	other, _ := valueAt(b.Object, selector)
	return sameValue(of, other)
}

// advise adds to the refusal of a change which strategy carries it out, if the cluster would accept a new object.
func (t *task) advise(ctx context.Context, live *unstructured.Unstructured, refusal error) error {
	if !isRefusedChange(refusal) {
		return refusal
	}
	if held := t.heldMembers(t.in.object, live, causesOf(refusal)); held != "" {
		return fmt.Errorf("%w: %s, and this manifest leaves it out: remove it from the object, or render what goes with it", refusal, held)
	}
	if t.checkSuccessor(ctx, live) != nil {
		return refusal
	}
	strategy, effect := Recreate, "deletes the object and creates it again"
	switch kind := t.in.ref.Kind; {
	case Protected(kind.GroupKind()):
		strategy, effect = RecreateProtected, "deletes the object with what it holds and creates it again"
	case kind.GroupKind() == statefulSet && selectsAlike(t.in.object, live):
		strategy, effect = RecreateOrphan, "creates the object again and leaves its Pods and claims alone"
	}
	return fmt.Errorf("%w: this can't be changed: the strategy %s (annotation %s) %s", refusal, strategy, t.strategyKey(), effect)
}

func (t *task) awaitDeletion(ctx context.Context, ref Ref, live *unstructured.Unstructured) error {
	if t.recreateWait > 0 {
		bounded, cancel := context.WithTimeout(ctx, t.recreateWait)
		defer cancel()
		ctx = bounded
	}
	return t.waitGone(ctx, ref, live)
}
