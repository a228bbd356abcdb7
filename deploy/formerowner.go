package deploy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// OwnerKinds names all kinds whose objects own others by label (OwnedByLabel) under the same field manager, usually all
// kinds that one operator controls. A label holds the uid of the owner. If no object of these kinds has that uid, the
// owner is gone, and the label doesn't count any more. The kind of the owner (OwnedBy) is always included, and is the
// default.
func OwnerKinds(kinds ...schema.GroupVersionKind) Option {
	return func(s *settings) { s.ownerKinds = kinds }
}

// UnknownOwnerKinds means that the kinds of owners aren't all known, for example because an operator finds its kinds at
// run time. Then the label of another owner always counts, and no object is adopted from a former owner by its label.
// It overrides OwnerKinds.
func UnknownOwnerKinds() Option {
	return func(s *settings) { s.anyOwnerKind = true }
}

// isFormer reports whether reference names an earlier object with the owner's name, which happens after a restore from
// a backup. Only one object has a name at a time, so an object with this name and another uid is gone. isFormer returns
// false for a controller reference if our reference would be the controller, too, because the API server accepts only
// one controller.
func (s settings) isFormer(live *unstructured.Unstructured, reference metav1.OwnerReference) bool {
	owner := s.owner
	kind := schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind)
	controls := reference.Controller != nil && *reference.Controller
	return reference.UID != owner.GetUID() && reference.Name == owner.GetName() && kind.GroupKind() == owner.GroupVersionKind().GroupKind() &&
		(owner.GetNamespace() == "" || owner.GetNamespace() == live.GetNamespace()) && !(controls && s.controller)
}

// mayChange is like checkOwnership, but if the label of another owner forbids the change, it also checks whether that
// owner still exists. The check lists each kind of owner from the View, and from the cluster if the View doesn't show
// the owner. That an owner is gone is remembered by its uid.
func (m *Manager) mayChange(ctx context.Context, s settings, ref Ref, live *unstructured.Unstructured) error {
	err := s.checkOwnership(ref, live)
	var owned *OwnedError
	if !errors.As(err, &owned) || owned.Label == "" || s.anyOwnerKind || !s.ours(live) {
		return err
	}
	holder, listErr := m.holderOf(ctx, s, types.UID(live.GetLabels()[owned.Label]))
	switch {
	case listErr != nil:
		return fmt.Errorf("%w; can't find out whether that owner still exists: %w", owned, listErr)
	case holder == nil:
		return nil
	}
	owned.Owner, owned.Label = fmt.Sprintf("%s (uid %s)", RefOf(holder), holder.GetUID()), ""
	return owned
}

// ours reports whether the owner may own live if the present owner of live is gone. It may if this manager has applied
// live, or if objects without an owner may be adopted.
func (s settings) ours(live *unstructured.Unstructured) bool {
	return s.adoption != RefuseAdoption || annotation(live, s.hashKey()) != ""
}

// holderOf returns the owner with uid, nil if there is none. Before it returns nil, it also lists the owners from the
// cluster, because a View may leave out namespaces.
func (m *Manager) holderOf(ctx context.Context, s settings, uid types.UID) (*unstructured.Unstructured, error) {
	if m.memory.formerOwners.has(uid) {
		return nil, nil
	}
	kinds := []schema.GroupVersionKind{s.owner.GroupVersionKind()}
	for _, kind := range s.ownerKinds {
		if !slices.ContainsFunc(kinds, func(k schema.GroupVersionKind) bool { return k.GroupKind() == kind.GroupKind() }) {
			kinds = append(kinds, kind)
		}
	}
	views := func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, "", nil)
	}
	asks := func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		return m.requests(s).List(ctx, kind, "", ListOptions{})
	}
	for _, list := range []func(schema.GroupVersionKind) ([]*unstructured.Unstructured, error){views, asks} {
		for _, kind := range kinds {
			holder, err := among(list, kind, uid)
			if holder != nil || err != nil {
				return holder, err
			}
		}
	}
	m.memory.formerOwners.put(uid, true)
	return nil, nil
}

// among returns the object of kind with uid, nil if there is none or the kind isn't served.
func among(list func(schema.GroupVersionKind) ([]*unstructured.Unstructured, error), kind schema.GroupVersionKind, uid types.UID) (*unstructured.Unstructured, error) {
	objects, err := list(kind)
	if is[*KindUnknownError](err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(objects, func(obj *unstructured.Unstructured) bool { return obj.GetUID() == uid })
	if at < 0 {
		return nil, nil
	}
	return objects[at], nil
}

// leave returns the result for an object that its strategy doesn't write. If the object names a former owner, leave
// replaces it by our owner. Otherwise the object would be deleted before our owner, or outlive it.
func (t *task) leave(ctx context.Context, live *unstructured.Unstructured, untouched Action) Result {
	metadata := t.inheritance(live)
	if metadata == nil {
		return Result{Ref: RefOf(live), Action: untouched, Object: live}
	}
	return t.patchMetadata(ctx, live, metadata)
}

// inheritance returns a patch of the metadata that replaces a former owner by our owner. It returns nil if live names
// no former owner.
func (t *task) inheritance(live *unstructured.Unstructured) map[string]any {
	if t.owner == nil || t.isOwner(RefOf(live)) {
		return nil
	}
	uid := string(t.owner.GetUID())
	if label := live.GetLabels()[t.ownerLabel()]; t.in.byLabel && label != "" && label != uid {
		return map[string]any{"labels": map[string]any{t.ownerLabel(): uid}}
	}
	references := live.GetOwnerReferences()
	kept := slices.DeleteFunc(slices.Clone(references), func(r metav1.OwnerReference) bool { return t.isFormer(live, r) })
	ours := slices.DeleteFunc(t.in.object.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return string(r.UID) != uid })
	if len(kept) == len(references) || ownedBy(live, t.owner.GetUID()) {
		return nil
	}
	return map[string]any{"ownerReferences": append(kept, ours...)}
}
