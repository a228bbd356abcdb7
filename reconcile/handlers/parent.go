package handlers

import (
	"context"
	"errors"

	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// OwnedBy limits the handler to objects with an owner of a kind, in any version, such as Pods of ReplicaSets. See
// Request.Parent.
func OwnedBy(kind schema.GroupKind) Option {
	return func(s *settings) {
		if kind.Kind == "" {
			s.fail("owned by: no kind is named: use one such as Deployment")
		}
		s.Filter.Parent = kind
	}
}

// Parent returns the owner of the object of the kind that OwnedBy names: the one that controls the object if there are
// several. It is nil if the owner doesn't exist any more. It is read through the View, which watches the kind from then
// on if the operator has no other use for it; so the operator needs the right to read it. The object is shared: don't
// change it.
func (r *Request[T]) Parent(ctx context.Context) (*unstructured.Unstructured, error) {
	if r.attempt.Handler.Filter.Parent.Kind == "" {
		return nil, request.Permanent(errors.New("parent: the handler has no option OwnedBy: add it"))
	}
	return r.attempt.Parent(ctx)
}
