package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// createOrUpdate calls controller-runtime's function of this name, with reads from its cache, for one typed object
// after the other, as reconcilers do.
type createOrUpdate struct {
	*cached
	wanted []wanted
}

func newCreateOrUpdate(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (side, error) {
	wanted, err := wantedAll(objects)
	if err != nil {
		return nil, err
	}
	c, err := newCached(ctx, config, where, objects)
	if err != nil {
		return nil, err
	}
	return &createOrUpdate{c, wanted}, nil
}

func (c *createOrUpdate) pass(ctx context.Context, want outcome) error {
	result := map[outcome]controllerutil.OperationResult{
		created: controllerutil.OperationResultCreated, unchanged: controllerutil.OperationResultNone, configured: controllerutil.OperationResultUpdated,
	}[want]
	for _, w := range c.wanted {
		obj := w.named()
		got, err := controllerutil.CreateOrUpdate(ctx, c.Client, obj, func() error { return w.mutate(obj) })
		if err != nil {
			return err
		}
		if got != result {
			return fmt.Errorf("%T %s was %s, not %s", obj, obj.GetName(), got, want)
		}
	}
	return nil
}
