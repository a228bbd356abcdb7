package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runtimeApply calls Apply of controller-runtime's client for each object, without reading any. A cache watches the
// objects at the same time, as an operator does with its objects, and as ours does.
type runtimeApply struct {
	*cached
	objects []*unstructured.Unstructured
}

func newRuntimeApply(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (side, error) {
	c, err := newCached(ctx, config, where, objects)
	if err != nil {
		return nil, err
	}
	// Copies, since Apply writes the responses into its arguments.
	own := make([]*unstructured.Unstructured, len(objects))
	for i, obj := range objects {
		own[i] = obj.DeepCopy()
	}
	return &runtimeApply{c, own}, nil
}

// pass creates the objects. It can't check other outcomes, since a response doesn't say whether an existing object was
// changed.
func (r *runtimeApply) pass(ctx context.Context, want outcome) error {
	if want != created {
		return fmt.Errorf("controller-runtime's Apply doesn't tell whether an object was %s", want)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(concurrency)
	for _, obj := range r.objects {
		group.Go(func() error {
			err := r.Apply(ctx, client.ApplyConfigurationFromUnstructured(obj), client.FieldOwner("runtime"), client.ForceOwnership)
			if err == nil && obj.GetUID() == "" {
				return fmt.Errorf("%s %s wasn't %s", obj.GetKind(), obj.GetName(), want)
			}
			return err
		})
	}
	return group.Wait()
}
