package versions

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/versions/internal/wire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// read answers a read of a session, or does what it asks for.
func (s *session) read(ctx context.Context, method string, r wire.Read) (any, error) {
	ref, manager := r.Ref.Ref(), s.local.Manager()
	switch {
	case method == wire.Own:
		return nil, s.local.Own(ctx, ref.Kind)
	case method == wire.Follow:
		return nil, s.local.Follow(ctx, ref)
	case method == wire.Delete:
		return nil, s.remove(ctx, ref, types.UID(r.UID), metav1.DeletionPropagation(r.Propagation))
	case method == wire.Get && r.Live:
		return found(manager.Port().Get(ctx, ref))
	case method == wire.Get:
		return found(manager.View().Get(ctx, ref))
	}
	selector, err := labels.Parse(r.Labels)
	if err != nil {
		return nil, err
	}
	if !r.Live {
		return foundAll(manager.View().List(ctx, ref.Kind, ref.Namespace, selector))
	}
	options := deploy.ListOptions{Labels: selector}
	if r.Fields != "" {
		if options.Fields, err = fields.ParseSelector(r.Fields); err != nil {
			return nil, err
		}
	}
	return foundAll(manager.Port().List(ctx, ref.Kind, ref.Namespace, options))
}

// remove deletes an object that the resource owns, if it is still the one of that uid.
func (s *session) remove(ctx context.Context, ref deploy.Ref, uid types.UID, propagation metav1.DeletionPropagation) error {
	manager := s.local.Manager()
	live, err := manager.Port().Get(ctx, ref)
	switch {
	case err != nil:
		return err
	case uid != "" && live.GetUID() != uid:
		return &deploy.StaleError{Ref: ref, Err: fmt.Errorf("it has the uid %s, not %s", live.GetUID(), uid)}
	}
	var options []deploy.Option
	if propagation != "" {
		options = append(options, deploy.Propagate(propagation))
	}
	results, err := manager.Delete(ctx, []*unstructured.Unstructured{live}, options...)
	if err == nil && results[0].Action == deploy.Skipped && results[0].Object == nil {
		return &deploy.NotFoundError{Ref: ref}
	}
	return err
}

func found(obj *unstructured.Unstructured, err error) (any, error) {
	if obj == nil || err != nil {
		return wire.Found{}, err
	}
	return wire.Found{Contents: []map[string]any{obj.Object}}, nil
}

func foundAll(objects []*unstructured.Unstructured, err error) (any, error) {
	contents := make([]map[string]any, len(objects))
	for i, obj := range objects {
		contents[i] = obj.Object
	}
	return wire.Found{Contents: contents}, err
}
