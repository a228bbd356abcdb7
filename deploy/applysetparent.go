package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// parentAttempts bounds how often the parent is read anew after somebody else wrote to it.
const parentAttempts = 5

// open reads the parent, from the cluster itself: what it remembers is all that is known about
// members, and other processes write there too.
func (r *setRun) open(ctx context.Context) error {
	parent, err := r.port.Get(ctx, r.where)
	switch {
	case err != nil:
		return err
	case parent == nil && !createsParent(r.where):
		return fmt.Errorf("parent of an ApplySet: only a Secret or ConfigMap is created: %w", &NotFoundError{Ref: r.where})
	case parent == nil:
		r.parent, r.known = nil, readInventory(nil, r.where.Namespace)
		return nil
	}
	if err := r.checkParent(parent); err != nil {
		return err
	}
	r.parent, r.known = parent, readInventory(parent.GetAnnotations(), r.where.Namespace)
	return nil
}

func createsParent(ref Ref) bool {
	return ref.Kind.Group == "" && (ref.Kind.Kind == "Secret" || ref.Kind.Kind == "ConfigMap")
}

// checkParent tells whether live is the parent of this set, or may become it.
func (r *setRun) checkParent(live *unstructured.Unstructured) error {
	if live.GetDeletionTimestamp() != nil {
		return &TerminatingError{Ref: r.where, Finalizers: live.GetFinalizers()}
	}
	id, isParent := live.GetLabels()[SetIDLabel]
	tooling, isKept := live.GetAnnotations()[SetToolingAnnotation]
	_, remembers := live.GetAnnotations()[SetKindsAnnotation]
	invalid := func(reason string) error { return &InvalidSetError{Parent: r.where, Reason: reason} }
	switch {
	case isKept && tool(tooling) != tool(r.set.Tooling):
		return &OwnedError{Ref: r.where, Owner: "the tool " + tool(tooling) + " as the parent of its ApplySet"}
	case isParent && id != r.id:
		return invalid(fmt.Sprintf("the parent's label %s is %q instead of %q: it was copied from another one, remove it", SetIDLabel, id, r.id))
	case isParent && isKept && remembers:
		return nil
	case isParent && isKept:
		return invalid("the parent has no annotation " + SetKindsAnnotation + ", so that its members can't be found: write their kinds there, such as Deployment.apps,Secret")
	case r.set.Adopt:
		return nil
	}
	return &OwnedError{Ref: r.where}
}

// widen writes on the parent where members are and will be. Only then may one be applied.
func (r *setRun) widen(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := r.write(ctx, r.known.with(r.wanted))
		var stale *StaleError
		var exists *AlreadyExistsError
		if !errors.As(err, &stale) && !errors.As(err, &exists) || attempt == parentAttempts {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
	}
}

// shrink takes off the parent what no member needs any more: all but where the objects are, and
// where members were kept or still hold on.
func (r *setRun) shrink(ctx context.Context, pruned []Pruned) error {
	if r.dryRun {
		return nil
	}
	needed := r.wanted.with(newInventory())
	for _, member := range pruned {
		if member.remains() {
			needed.add(member.Ref)
		}
	}
	written := readInventory(r.parent.GetAnnotations(), r.where.Namespace)
	for attempt := 1; ; attempt++ {
		err := r.write(ctx, needed)
		var stale *StaleError
		if !errors.As(err, &stale) || attempt == parentAttempts {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
		if r.parent == nil || !r.known.holds(written) || !written.holds(r.known) {
			// Somebody works on the same set. What both need stays; a later call shrinks it.
			needed = r.known.with(needed)
		}
	}
}

// write makes the parent say where members are. What it says already costs no call. The
// precondition is the parent as it was read: otherwise what another process wrote would be lost.
func (r *setRun) write(ctx context.Context, where inventory) error {
	wanted := emptyOf(r.where)
	annotations := where.annotations(r.where.Namespace)
	annotations[SetToolingAnnotation] = r.set.Tooling
	wanted.SetAnnotations(annotations)
	wanted.SetLabels(map[string]string{SetIDLabel: r.id})
	manager := tool(r.set.Tooling) + "-applyset"
	if r.parent == nil {
		// An apply can't say that the object must not exist.
		return r.createParent(ctx, wanted, CreateOptions{FieldManager: manager, DryRun: r.dryRun})
	}
	if has(r.parent.GetAnnotations(), annotations) && has(r.parent.GetLabels(), wanted.GetLabels()) {
		return nil
	}
	wanted.SetUID(r.parent.GetUID())
	wanted.SetResourceVersion(r.parent.GetResourceVersion())
	// These labels and annotations belong to the set, whoever wrote them last.
	applied, err := r.port.Apply(ctx, wanted, ApplyOptions{FieldManager: manager, Force: true, DryRun: r.dryRun})
	if err == nil {
		r.parent = applied.Object
	}
	return err
}

// createParent creates it, after its namespace when that is one of the objects. That one gets its
// label with the others: until the parent is there, nothing may be a member.
func (r *setRun) createParent(ctx context.Context, wanted *unstructured.Unstructured, options CreateOptions) error {
	created, err := r.port.Create(ctx, wanted, options)
	i := slices.IndexFunc(r.objects, func(obj *unstructured.Unstructured) bool {
		return isNamespace(obj, r.where.Namespace)
	})
	if isNotFound(err) && i >= 0 && r.founded == nil {
		if r.dryRun {
			r.parent = wanted
			return nil
		}
		unlabelled := r.objects[i].DeepCopy()
		labels := unlabelled.GetLabels()
		delete(labels, PartOfLabel)
		if len(labels) == 0 {
			labels = nil
		}
		unlabelled.SetLabels(labels)
		founded, err := r.guarded(&witness{guard: r.checkMember}).Apply(ctx, []*unstructured.Unstructured{unlabelled})
		if err != nil {
			return err
		}
		r.founded = map[int]Result{i: founded[0]}
		return r.createParent(ctx, wanted, options)
	}
	if err == nil {
		r.parent = created
	}
	return err
}

// has tells whether values has all that is wanted.
func has(values, wanted map[string]string) bool {
	for key, value := range wanted {
		if held, ok := values[key]; !ok || held != value {
			return false
		}
	}
	return true
}
