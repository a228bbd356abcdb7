package main

import (
	"context"
	"fmt"
	"log/slog"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
)

// operkit is ours: a Manager over a cluster that watches the kinds of the objects in their namespace.
type operkit struct {
	manager *deploy.Manager
	objects []*unstructured.Unstructured
	end     func()
}

// newOperkit returns when the watches have returned all existing objects.
func newOperkit(ctx context.Context, config *rest.Config, where string, objects []*unstructured.Unstructured) (side, error) {
	watching, cancel := context.WithCancel(ctx)
	c, err := cluster.New(watching, config, cluster.Namespaces(where), cluster.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		cancel()
		return nil, err
	}
	manager, err := deploy.NewManager(c, deploy.Concurrency(concurrency))
	if err != nil {
		cancel()
		return nil, err
	}
	o := &operkit{manager: manager, objects: objects, end: func() { cancel(); c.Wait() }}
	for _, kind := range kinds(objects) {
		subscription, err := c.View().Subscribe(watching, kind, func(deploy.Event) {})
		if err == nil {
			err = subscription.Synced(ctx)
		}
		if err != nil {
			o.end()
			return nil, fmt.Errorf("watch of %s: %w", kind.Kind, err)
		}
	}
	return o, nil
}

func (o *operkit) pass(ctx context.Context, want outcome) error {
	results, err := o.manager.Apply(ctx, o.objects)
	if err != nil {
		return err
	}
	if len(results) != len(o.objects) {
		return fmt.Errorf("%d of %d objects have a result", len(results), len(o.objects))
	}
	action := map[outcome]deploy.Action{created: deploy.Created, unchanged: deploy.Unchanged, configured: deploy.Configured}[want]
	for i := range results {
		if results[i].Action != action {
			return fmt.Errorf("%s was %s, not %s", results[i].Ref, results[i].Action, want)
		}
	}
	return nil
}

func (o *operkit) close() { o.end() }
