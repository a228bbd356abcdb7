package deploy

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
)

// open reads the parent from the API server, not from the View: members are found only in the kinds and namespaces that
// the parent records, and other processes write to the parent, too.
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

// checkParent returns an error unless live is the parent of this set or may become it.
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
		return invalid(fmt.Sprintf("the parent's label %s is %q instead of %q, so it was copied from another parent: remove the label", SetIDLabel, id, r.id))
	case isParent && isKept && remembers:
		return nil
	case isParent && isKept:
		return invalid("the parent has no annotation " + SetKindsAnnotation + ", so its members can't be found: write their kinds there, such as Deployment.apps,Secret")
	case r.set.Adopt:
		return nil
	}
	return &OwnedError{Ref: r.where}
}

// widen adds the kinds and namespaces of the objects to the parent. It must run before an object is applied.
func (r *setRun) widen(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := r.write(ctx, r.known.with(r.wanted))
		if !is[*StaleError](err) && !is[*AlreadyExistsError](err) || attempt == maxAttempts {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
	}
}

// shrink removes from the parent the kinds and namespaces that no member has any more. It keeps the kinds and
// namespaces of the objects, and of members that were kept or aren't gone yet.
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
		if !is[*StaleError](err) || attempt == maxAttempts {
			return err
		}
		if err := r.open(ctx); err != nil {
			return err
		}
		if r.parent == nil || !r.known.holds(written) || !written.holds(r.known) {
			// Another process works on the same set. Keep the kinds and namespaces of both; a later call removes the
			// rest.
			needed = r.known.with(needed)
		}
	}
}

// write records kinds and namespaces on the parent, unless the parent has them already. The write has the uid and
// resourceVersion of the parent as preconditions, so that it never overwrites a change by another process.
func (r *setRun) write(ctx context.Context, where inventory) error {
	wanted := emptyOf(r.where)
	annotations := where.annotations(r.where.Namespace)
	annotations[SetToolingAnnotation] = r.set.Tooling
	wanted.SetAnnotations(annotations)
	wanted.SetLabels(map[string]string{SetIDLabel: r.id})
	manager := tool(r.set.Tooling) + "-applyset"
	if r.parent == nil {
		// An apply can't require that the object is absent.
		return r.createParent(ctx, wanted, CreateOptions{FieldManager: manager, DryRun: r.dryRun})
	}
	if has(r.parent.GetAnnotations(), annotations) && has(r.parent.GetLabels(), wanted.GetLabels()) {
		return nil
	}
	wanted.SetUID(r.parent.GetUID())
	wanted.SetResourceVersion(r.parent.GetResourceVersion())
	// Only the set uses these labels and annotations, so overwrite the values of others.
	applied, err := r.port.Apply(ctx, wanted, ApplyOptions{FieldManager: manager, Force: true, DryRun: r.dryRun})
	if err == nil {
		r.parent = applied.Object
	}
	return err
}

// createParent creates the parent. If the parent's namespace is one of the objects and doesn't exist, createParent
// applies the namespace first, without the label of the set: nothing may be a member before the parent exists. The
// namespace gets the label later, with the other objects.
func (r *setRun) createParent(ctx context.Context, wanted *unstructured.Unstructured, options CreateOptions) error {
	created, err := r.port.Create(ctx, wanted, options)
	i := slices.IndexFunc(r.objects, func(obj *unstructured.Unstructured) bool {
		return isNamespace(obj, r.where.Namespace)
	})
	if is[*NotFoundError](err) && i >= 0 && r.founded == nil {
		if r.dryRun {
			r.parent = wanted
			return nil
		}
		unlabelled := &unstructured.Unstructured{Object: withoutKeys(r.objects[i].Object, []string{"f:metadata", "f:labels", "f:" + PartOfLabel})}
		founded, err := r.apply(ctx, r.settings, []*unstructured.Unstructured{unlabelled})
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

// has reports whether values contains all of wanted.
func has(values, wanted map[string]string) bool {
	return maps.Equal(values, over(values, wanted))
}

// inventory holds the kinds and namespaces that members of a set may have.
type inventory struct {
	kinds      sets.Set[schema.GroupKind]
	namespaces sets.Set[string]
}

func newInventory() inventory { return inventory{sets.New[schema.GroupKind](), sets.New[string]()} }

// add adds the kind and namespace of ref. It leaves out names that contain a separator, because they would be parsed as
// other names.
func (i inventory) add(ref Ref) {
	kind := ref.Kind.GroupKind()
	if kind.Kind != "" && !strings.ContainsAny(kind.Kind, ",.") && !strings.Contains(kind.Group, ",") {
		i.kinds.Insert(kind)
	}
	if ref.Namespace != "" && !strings.Contains(ref.Namespace, ",") {
		i.namespaces.Insert(ref.Namespace)
	}
}

// with returns the union of i and other.
func (i inventory) with(other inventory) inventory {
	return inventory{i.kinds.Union(other.kinds), i.namespaces.Union(other.namespaces)}
}

// holds reports whether i contains all kinds and namespaces of other.
func (i inventory) holds(other inventory) bool {
	return i.kinds.IsSuperset(other.kinds) && i.namespaces.IsSuperset(other.namespaces)
}

// annotations returns the annotations for a parent that is in the namespace own. They don't list own.
func (i inventory) annotations(own string) map[string]string {
	kinds := make([]string, 0, len(i.kinds))
	for _, kind := range i.sortedKinds() {
		kinds = append(kinds, kind.String())
	}
	namespaces := sets.List(i.namespaces.Difference(sets.New(own)))
	return map[string]string{
		SetKindsAnnotation:      strings.Join(kinds, ","),
		SetNamespacesAnnotation: strings.Join(namespaces, ","),
	}
}

// readInventory parses the annotations of a parent that is in the namespace own, and adds own.
func readInventory(annotations map[string]string, own string) inventory {
	i := newInventory()
	for kind := range strings.SplitSeq(annotations[SetKindsAnnotation], ",") {
		kind = strings.TrimSpace(kind)
		if parsed := schema.ParseGroupKind(kind); parsed.Kind != "" && !strings.ContainsFunc(kind, unicode.IsSpace) {
			i.kinds.Insert(parsed)
		}
	}
	for name := range strings.SplitSeq(annotations[SetNamespacesAnnotation]+","+own, ",") {
		if name = strings.TrimSpace(name); name != "" {
			i.namespaces.Insert(name)
		}
	}
	return i
}

func (i inventory) sortedKinds() []schema.GroupKind {
	return slices.SortedFunc(maps.Keys(i.kinds), func(a, b schema.GroupKind) int {
		return strings.Compare(a.String(), b.String())
	})
}
