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
)

// OwnedView is what a View offers beside that finds objects by their owners without looking at all of
// them.
type OwnedView interface {
	View
	// Owned returns the objects of kind in namespace (empty: all) with an owner reference to owner, in whatever
	// order. Of kinds that are held as metadata (PartialView) it returns no more.
	Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error)
}

// Owned lists what this manager has applied for an owner (OwnedBy) of some kinds: by reference, and by
// label with OwnedByLabel. It is what to compare with today's objects to find those that nobody wants any
// more. They are ascending by kind as given, then by namespace and name, and shared: don't change them. A
// kind that isn't served holds nothing.
func (m *Manager) Owned(ctx context.Context, kinds []schema.GroupVersionKind, options ...Option) ([]*unstructured.Unstructured, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	isExcepted := func(obj *unstructured.Unstructured) bool { return s.except != nil && s.except(RefOf(obj)) }
	found, err := m.listOwned(ctx, s, kinds, func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		listed, err := m.ownedOf(ctx, s, kind)
		var objects []*unstructured.Unstructured
		for _, obj := range listed {
			if !isExcepted(obj) && ownedBy(obj, s.owner.GetUID()) && s.hasApplied(obj) {
				objects = append(objects, obj)
			}
		}
		slices.SortFunc(objects, byName)
		return objects, err
	})
	if err != nil || !s.labelOwned {
		return found, err
	}
	tracked, err := m.Tracked(ctx, kinds, options...)
	return append(found, slices.DeleteFunc(tracked, isExcepted)...), err
}

// Tracked lists what an owner (OwnedBy) owns by label (OwnedByLabel) among some kinds, ascending by
// kind as given, namespace and name. Give it to Delete before the owner goes. A kind that isn't
// served holds nothing.
func (m *Manager) Tracked(ctx context.Context, kinds []schema.GroupVersionKind, options ...Option) ([]*unstructured.Unstructured, error) {
	s, err := m.settings.forCall(options)
	if err != nil {
		return nil, err
	}
	return m.listOwned(ctx, s, kinds, func(kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
		return m.view.List(ctx, kind, "", labels.SelectorFromSet(labels.Set{s.ownerLabel(): string(s.owner.GetUID())}))
	})
}

// listOwned joins what list returns for each kind, tried again as requests are.
func (m *Manager) listOwned(
	ctx context.Context, s settings, kinds []schema.GroupVersionKind, list func(schema.GroupVersionKind) ([]*unstructured.Unstructured, error),
) (found []*unstructured.Unstructured, err error) {
	if s.owner == nil {
		return nil, errors.New("objects of an owner: none is given: use OwnedBy")
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

// Except makes Owned leave out the objects for which wanted returns true, before it looks at them any closer.
func Except(wanted func(ref Ref) bool) Option { return func(s *settings) { s.except = wanted } }

// ownedOf lists objects of kind among which are those that refer to the owner.
func (m *Manager) ownedOf(ctx context.Context, s settings, kind schema.GroupVersionKind) ([]*unstructured.Unstructured, error) {
	if view, ok := m.view.(OwnedView); ok {
		return view.Owned(ctx, kind, s.owner.GetNamespace(), s.owner.GetUID())
	}
	return m.view.List(ctx, kind, s.owner.GetNamespace(), nil)
}
