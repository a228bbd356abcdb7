package main

import (
	"context"
	"errors"

	"github.com/operkit/operkit/deploy/cluster"
	v1 "github.com/operkit/operkit/examples/memcached/api/v1"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// adapter makes a Reconciler of controller-runtime a Reconciler of operkit's engine.
type adapter struct {
	theirs ctrlreconcile.Reconciler
	// owns are the kinds that the builder was given by Owns.
	owns []schema.GroupVersionKind
}

// Reconcile implements watch.Reconciler.
func (a adapter) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	result, err := a.theirs.Reconcile(ctx, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: req.Key.Namespace, Name: req.Key.Name}})
	if errors.Is(err, ctrlreconcile.TerminalError(nil)) {
		err = request.Permanent(err)
	}
	return request.Result{RequeueAfter: result.RequeueAfter}, err
}

// Sources implements source.Provider.
func (a adapter) Sources() source.Sources {
	var sources source.Sources
	for _, kind := range a.owns {
		sources.Owned = append(sources.Owned, source.Owned{Kind: kind})
	}
	return sources
}

// behind has the Reconciler called by operkit's engine until ctx ends. Its client asks the API server each time: it has
// no cache.
func behind(ctx context.Context, namespace string) error {
	config, err := cluster.Config("", "")
	if err != nil {
		return err
	}
	config.UserAgent = fieldManager
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	live, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	api, err := cluster.New(ctx, config, cluster.Namespaces(namespace))
	if err != nil {
		return err
	}
	defer api.Wait()
	engine, err := watch.New(api.View())
	if err != nil {
		return err
	}
	deployments := schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	if err := engine.Control(v1.MemcachedKind, adapter{&MemcachedReconciler{live}, []schema.GroupVersionKind{deployments}}); err != nil {
		return err
	}
	return engine.Run(ctx)
}
