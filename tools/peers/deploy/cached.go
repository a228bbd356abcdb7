package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// cached is the client that an operator on controller-runtime has: it reads typed objects from a cache of the kinds in
// their namespace. The cache keeps no managed fields, as its documentation advises if nobody reads them: otherwise they
// would be copied and compared each time.
type cached struct {
	client.Client
	end func()
}

// newCached returns when the cache has all existing objects.
func newCached(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (*cached, error) {
	held, err := cache.New(config, cache.Options{
		Scheme: scheme.Scheme, DefaultNamespaces: map[string]cache.Config{where: {}}, DefaultTransform: cache.TransformStripManagedFields(),
	})
	if err != nil {
		return nil, err
	}
	caching, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- held.Start(caching) }()
	c := &cached{end: func() { cancel(); <-done }} //nolint:errcheck // that it was told to end
	if err := fill(ctx, held, objects); err != nil {
		c.end()
		return nil, err
	}
	c.Client, err = client.New(config, client.Options{Scheme: scheme.Scheme, Cache: &client.CacheOptions{Reader: held}})
	if err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

func fill(ctx context.Context, held cache.Cache, objects []*unstructured.Unstructured) error {
	for _, kind := range kinds(objects) {
		if _, err := held.GetInformerForKind(ctx, kind); err != nil {
			return fmt.Errorf("cache of %s: %w", kind.Kind, err)
		}
	}
	if !held.WaitForCacheSync(ctx) {
		return fmt.Errorf("the cache wasn't filled: %w", ctx.Err())
	}
	return nil
}

func (c *cached) close() { c.end() }
