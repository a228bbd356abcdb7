package main

import (
	"context"
	"testing"

	"github.com/go-logr/logr"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// quiet suppresses controller-runtime's warning that no logger was set.
func quiet() { log.SetLogger(logr.Discard()) }

// peerEngine runs a controller of controller-runtime with the builder's defaults. Its cache gets its events from the
// benchmark: typed objects, without a predicate.
func peerEngine(b testing.TB, work func(name string)) func(i int) {
	all := newVersions(typedItem)
	again, existing := true, newArrivals(eventObjects)
	c, err := controller.NewUnmanaged("shops", controller.Options{
		MaxConcurrentReconciles: eventWorkers,
		SkipNameValidation:      &again,
		Reconciler: reconcile.Func(func(_ context.Context, req reconcile.Request) (reconcile.Result, error) {
			existing.arrived()
			work(req.Name)
			return reconcile.Result{}, nil
		}),
	})
	must(b, err)
	informer := pushedInformer{handlers: make(chan toolscache.ResourceEventHandler, 1)}
	for _, obj := range all.all[0] {
		informer.existing = append(informer.existing, obj)
	}
	kinds := source.Kind[client.Object](pushedCache{informer: informer}, &item{}, &handler.EnqueueRequestForObject{})
	must(b, c.Watch(kinds))
	run(b, c.Start)
	events := <-informer.handlers
	existing.wait()
	return func(i int) {
		before, after := all.update(i)
		events.OnUpdate(before, after)
	}
}

// pushedCache is a cache whose only informer is fed by the benchmark. A controller reads nothing through it.
type pushedCache struct {
	cache.Cache
	informer pushedInformer
}

// GetInformer implements cache.Cache.
func (p pushedCache) GetInformer(context.Context, client.Object, ...cache.InformerGetOption) (cache.Informer, error) {
	return p.informer, nil
}

// WaitForCacheSync implements cache.Cache.
func (pushedCache) WaitForCacheSync(context.Context) bool { return true }

// pushedInformer passes the existing objects to its handler at once, and passes the handler to the benchmark.
type pushedInformer struct {
	cache.Informer
	existing []client.Object
	handlers chan toolscache.ResourceEventHandler
}

// AddEventHandlerWithOptions implements cache.Informer.
func (p pushedInformer) AddEventHandlerWithOptions(handler toolscache.ResourceEventHandler, _ toolscache.HandlerOptions) (toolscache.ResourceEventHandlerRegistration, error) {
	for _, obj := range p.existing {
		handler.OnAdd(obj, true)
	}
	p.handlers <- handler
	return pushedRegistration{}, nil
}

type pushedRegistration struct {
	toolscache.ResourceEventHandlerRegistration
}

// HasSynced implements toolscache.ResourceEventHandlerRegistration.
func (pushedRegistration) HasSynced() bool { return true }
