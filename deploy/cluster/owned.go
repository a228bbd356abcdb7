package cluster

import (
	"context"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

var _ deploy.OwnedView = (*store)(nil)

// ownerIndex finds objects by the uids of their owners.
const ownerIndex = "owner"

// owners is a cache.IndexFunc.
func owners(obj any) ([]string, error) { return ownersOf(obj.(*unstructured.Unstructured)), nil }

func ownersOf(obj *unstructured.Unstructured) (uids []string) {
	for _, reference := range obj.GetOwnerReferences() {
		uids = append(uids, string(reference.UID))
	}
	return uids
}

// Owned implements deploy.OwnedView.
func (s *store) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	foreign := func(obj *unstructured.Unstructured) bool {
		return namespace != "" && obj.GetNamespace() != namespace || !slices.Contains(ownersOf(obj), string(owner))
	}
	if watched := s.watchedFor(kind, namespace); watched != nil {
		if err := watched.synced(ctx); err != nil {
			return nil, err
		}
		objects, complete := s.overlay.list(kind, namespace, func() []*unstructured.Unstructured { return watched.owned(owner) })
		if complete {
			return slices.DeleteFunc(objects, foreign), nil
		}
	}
	objects, err := s.List(ctx, kind, namespace, nil)
	return slices.DeleteFunc(objects, foreign), err
}

// owned returns what the informers hold of an owner.
func (w *watchedKind) owned(owner types.UID) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, i := range w.informers {
		// The only error is an index that doesn't exist.
		items, _ := i.GetIndexer().ByIndex(ownerIndex, string(owner))
		for _, item := range items {
			if obj, ok := item.(*unstructured.Unstructured); ok {
				objects = append(objects, obj)
			}
		}
	}
	return objects
}
