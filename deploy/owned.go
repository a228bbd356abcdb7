package deploy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// OwnedView is a View that can also find objects by their owner without reading all of them.
type OwnedView interface {
	View
	// Owned returns the objects of kind in namespace (empty: all) that have an owner reference to owner, in any order.
	// If the View holds only metadata of the kind (PartialView), the objects have only metadata.
	Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error)
}

// Owned lists the objects of the given kinds that belong to an owner (OwnedBy): objects with an owner reference that
// this manager has applied and, with OwnedByLabel, all objects with the owner's label. ControlledToo adds objects that
// others have created. Objects for which wanted returns true are left out, so that only the objects to prune remain; a
// nil wanted leaves none out. Objects with an owner reference come first, then objects with a label. Both are in the
// order of kinds, then ascending by namespace and name. The objects are shared: don't change them. Kinds that aren't
// served are skipped.
func (m *Manager) Owned(
	ctx context.Context, kinds []schema.GroupVersionKind, wanted func(ref Ref) bool, options ...Option,
) ([]*unstructured.Unstructured, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	isWanted := func(obj *unstructured.Unstructured) bool { return wanted != nil && wanted(RefOf(obj)) }
	found, err := m.listOwned(ctx, s, kinds, func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		listed, err := m.ownedOf(ctx, s, kind)
		objects := slices.DeleteFunc(slices.Clone(listed), func(obj *unstructured.Unstructured) bool {
			return isWanted(obj) || !ownedBy(obj, s.owner.GetUID()) || !s.hasApplied(obj) && !(s.controlledToo && s.controls(obj))
		})
		slices.SortFunc(objects, byName)
		return objects, err
	})
	if err != nil || !s.labelOwned {
		return found, err
	}
	tracked, err := m.Tracked(ctx, kinds, options...)
	return append(found, slices.DeleteFunc(tracked, isWanted)...), err
}

// ControlledToo lets Owned also list objects that this manager hasn't applied, if the owner (OwnedBy) is their
// controller. Others have created these objects for the owner, such as a person who wants the owner to adopt them. By
// default they are left out, so that they aren't pruned. Objects of others that only reference the owner, without
// naming it their controller, are always left out.
func ControlledToo() Option { return func(s *settings) { s.controlledToo = true } }

// controls reports whether the owner is the controller of obj.
func (s settings) controls(obj *unstructured.Unstructured) bool {
	controller := metav1.GetControllerOfNoCopy(obj)
	return controller != nil && controller.UID == s.owner.GetUID()
}

// Tracked lists the objects of the given kinds that an owner (OwnedBy) owns by label (OwnedByLabel). The objects are in
// the order of kinds, then ascending by namespace and name. Pass them to Delete before the owner is deleted. Kinds that
// aren't served are skipped.
func (m *Manager) Tracked(ctx context.Context, kinds []schema.GroupVersionKind, options ...Option) ([]*unstructured.Unstructured, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	return m.listOwned(ctx, s, kinds, func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, "", labels.SelectorFromSet(labels.Set{s.ownerLabel(): string(s.owner.GetUID())}))
	})
}

// listOwned joins the results of list for each kind. If list fails, it retries like a request.
func (m *Manager) listOwned(
	ctx context.Context, s settings, kinds []schema.GroupVersionKind, list func(schema.GroupVersionKind) ([]*unstructured.Unstructured, error),
) (found []*unstructured.Unstructured, err error) {
	if s.owner == nil {
		return nil, errors.New("nil owner: use OwnedBy")
	}
	for _, kind := range kinds {
		objects, err := retry(ctx, s.retryFor, func() ([]*unstructured.Unstructured, error) { return list(kind) })
		if err != nil && !is[*KindUnknownError](err) {
			return found, fmt.Errorf("objects of %s: %w", RefOf(s.owner), err)
		}
		found = append(found, objects...)
	}
	return found, nil
}

func byName(a, b *unstructured.Unstructured) int {
	return cmp.Or(strings.Compare(a.GetNamespace(), b.GetNamespace()), strings.Compare(a.GetName(), b.GetName()))
}

// ownedOf lists objects of kind: at least all objects that reference the owner, and possibly others.
func (m *Manager) ownedOf(ctx context.Context, s settings, kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	if view, ok := m.view.(OwnedView); ok {
		return view.Owned(ctx, kind, s.owner.GetNamespace(), s.owner.GetUID())
	}
	return m.view.List(ctx, kind, s.owner.GetNamespace(), nil)
}
