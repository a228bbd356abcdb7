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

// Owned implements deploy.OwnedView.
func (s *store) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	foreign := func(obj *unstructured.Unstructured) bool {
		return namespace != "" && obj.GetNamespace() != namespace || !slices.Contains(ownersOf(obj), string(owner))
	}
	if watched := s.watchedFor(kind, namespace); watched != nil {
		objects, complete, err := s.collected(ctx, watched, namespace, func(o *objects) []*unstructured.Unstructured { return o.owned(string(owner)) })
		if err != nil {
			return nil, err
		}
		if complete {
			return slices.DeleteFunc(objects, foreign), nil
		}
	}
	objects, err := s.List(ctx, kind, namespace, nil)
	return slices.DeleteFunc(objects, foreign), err
}
