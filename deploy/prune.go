package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
)

// Pruned is the result for a member of an ApplySet that isn't among its objects. Its Action is Removed, Skipped if the
// member is kept, Conflicted if the member doesn't belong to the owner (OwnedBy), or Failed. Object is the member as it
// was found, nil if the member is gone.
type Pruned struct {
	Result
	// Reason says why the member was, or would be, deleted or kept.
	Reason string
}

// remains reports whether the member may still be in the cluster.
func (p Pruned) remains() bool {
	return p.Object != nil && (p.Action != Removed || len(p.Object.GetFinalizers()) > 0)
}

// PruneCandidates returns the members of a set that aren't among objects: those that ApplySet would delete after it has
// applied objects, and those that it would keep, each with its Reason. It only reads.
func (m *Manager) PruneCandidates(ctx context.Context, set ApplySet, objects []*unstructured.Unstructured, options ...Option) ([]Pruned, error) {
	r, err := m.newSetRun(ctx, set, objects, options)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx); err != nil || r.parent == nil {
		return nil, err
	}
	kept := kept{}
	for _, obj := range r.objects {
		ref, err := r.Locate(ctx, obj, options...)
		if is[*KindUnknownError](err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		live, err := r.existing(ctx, ref, obj)
		if err != nil {
			return nil, err
		}
		kept.add(live)
	}
	return r.candidates(ctx, kept)
}

// existing returns the object that obj names. If obj has a generateName, it returns the object that was created from
// obj. It returns nil if there is none.
func (r *setRun) existing(ctx context.Context, ref Ref, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if ref.Name != "" {
		return r.read(ctx, r.retryFor, ref)
	}
	return r.generated(ctx, r.settings, ref, r.generatedFrom(ref, obj.GetGenerateName()))
}

// kept are the uids of the objects of a set, and of the members that were found before. A list of another kind may
// return the same object again.
type kept map[types.UID]bool

func (k kept) add(obj *unstructured.Unstructured) {
	if obj != nil && obj.GetUID() != "" {
		k[obj.GetUID()] = true
	}
}

// keptBy returns the uids of the applied objects.
func (r *setRun) keptBy(ctx context.Context, applied Results) (kept, error) {
	kept := kept{}
	for _, result := range applied {
		obj := result.Object
		if obj == nil || obj.GetUID() == "" {
			var err error
			if obj, err = r.port.Get(ctx, result.Ref); err != nil {
				return nil, err
			}
		}
		kept.add(obj)
	}
	return kept, nil
}

// candidates returns the members that aren't among the objects, in the order of deletion, each with the action to take.
func (r *setRun) candidates(ctx context.Context, kept kept) ([]Pruned, error) {
	var found []Pruned
	where := r.known.with(r.wanted)
	for _, kind := range where.sortedKinds() {
		members, err := r.labelledOf(ctx, kind, where)
		if err != nil {
			return nil, err
		}
		for _, member := range members {
			ref := RefOf(member)
			if r.members[keyOf(ref)] || keyOf(ref) == keyOf(r.where) || kept[member.GetUID()] ||
				member.GetLabels()[PartOfLabel] != r.id {
				continue
			}
			kept.add(member) // a list of another kind may return it again
			found = append(found, r.judge(ctx, ref, member))
		}
	}
	// Delete Namespaces and CustomResourceDefinitions last.
	slices.SortStableFunc(found, func(a, b Pruned) int { return cmp.Compare(depth(a.Ref), depth(b.Ref)) })
	return found, nil
}

func depth(ref Ref) int {
	if isFoundation(ref.Kind.GroupKind()) {
		return 1
	}
	return 0
}

// labelledOf lists the objects with the label of the set, from the cluster itself.
func (r *setRun) labelledOf(ctx context.Context, kind schema.GroupKind, where inventory) ([]*unstructured.Unstructured, error) {
	served, err := r.served(ctx, kind)
	if err != nil || served.Empty() {
		return nil, err
	}
	scope, err := r.port.Scope(ctx, served)
	if is[*KindUnknownError](err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	namespaces := []string{""}
	if scope == Namespaced {
		namespaces = sets.List(where.namespaces)
	}
	options := ListOptions{Labels: labels.SelectorFromSet(labels.Set{PartOfLabel: r.id})}
	var members []*unstructured.Unstructured
	for _, namespace := range namespaces {
		listed, err := r.port.List(ctx, served, namespace, options)
		if err != nil {
			return nil, err
		}
		members = append(members, listed...)
	}
	return members, nil
}

// served returns the version in which to list a kind. It is empty if the cluster doesn't serve the kind any more. Then
// the cluster has no objects of the kind.
func (r *setRun) served(ctx context.Context, kind schema.GroupKind) (schema.GroupVersionKind, error) {
	if version, ok := r.versions[kind]; ok {
		return version, nil
	}
	kinds, err := r.port.Kinds(ctx, kind.Kind)
	for _, candidate := range kinds {
		if candidate.GroupKind() == kind {
			return candidate, nil
		}
	}
	return schema.GroupVersionKind{}, err
}

// judge decides what to do with a member that isn't among the objects.
func (r *setRun) judge(ctx context.Context, ref Ref, member *unstructured.Unstructured) Pruned {
	p := Pruned{Result: Result{Ref: ref, Action: Removed, Object: member}, Reason: "it is in the set and not among its objects any more"}
	kind := ref.Kind.GroupKind()
	switch {
	case member.GetDeletionTimestamp() != nil:
		p.Action, p.Reason = Skipped, "it is being deleted already"
		if holders := member.GetFinalizers(); len(holders) > 0 {
			p.Reason += " and waits for " + strings.Join(holders, ", ")
		}
	case Protected(kind) && !slices.Contains(r.set.Deletable, kind):
		p.Action, p.Reason = Skipped, fmt.Sprintf("objects of kind %s are kept unless ApplySet.Deletable names it", kind)
	default:
		s := r.settings
		// A member without an owner may be deleted. A member with another owner may not, even if it could be adopted.
		s.adoption, s.deletion = min(s.adoption, AdoptUnowned), true
		if p.Err = r.mayChange(ctx, s, ref, member); p.Err != nil {
			p.Action, p.Reason = Conflicted, "it doesn't belong to the owner"
		}
	}
	return p
}

// prune deletes the members whose Action is Removed, each with its uid as the precondition.
func (r *setRun) prune(ctx context.Context, found []Pruned) error {
	var errs []error
	for i := range found {
		p := &found[i]
		if p.Action == Removed {
			port := r.requests(r.settings)
			err := port.Delete(ctx, p.Ref, DeleteOptions{UID: p.Object.GetUID(), Propagation: r.propagation, DryRun: r.dryRun})
			p.Calls = int(port.calls.Load())
			switch {
			case is[*NotFoundError](err) && p.Calls > 1:
				p.Object = nil // an earlier try succeeded, but its response was lost
			case is[*NotFoundError](err):
				p.Action, p.Object, p.Reason = Skipped, nil, "it is gone already"
			case err != nil:
				p.Action, p.Err = Failed, err
			}
		}
		errs = append(errs, p.Err)
	}
	return errors.Join(errs...)
}
