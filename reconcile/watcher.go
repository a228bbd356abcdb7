package reconcile

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Watcher is told which kinds a session is about to read or write on behalf of a resource,
// so that it can be reconciled when objects of them change. It returns once the objects of
// kind child that exist are known. It is called from several goroutines, and with every
// reconcile again.
type Watcher interface {
	Own(ctx context.Context, owner, child schema.GroupVersionKind) error
}

// own has a kind watched before the first object of it is read or written.
func (s *Session) own(ctx context.Context, kind schema.GroupVersionKind) error {
	if s.watcher == nil {
		return nil
	}
	return s.watcher.Own(ctx, s.Kind(), kind)
}

// kindsOf returns the kinds of objects, each once, in their order.
func kindsOf(objects []*unstructured.Unstructured) []schema.GroupVersionKind {
	var kinds []schema.GroupVersionKind
	for _, obj := range objects {
		if kind := obj.GroupVersionKind(); !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}
