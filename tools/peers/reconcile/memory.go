package main

import (
	"context"
	"runtime"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
)

var (
	configMapKind  = corev1.SchemeGroupVersion.WithKind("ConfigMap")
	deploymentKind = appsv1.SchemeGroupVersion.WithKind("Deployment")
)

// paths are the paths at which kinds are served.
var paths = map[schema.GroupVersionKind]string{configMapKind: "/api/v1/configmaps", deploymentKind: "/apis/apps/v1/deployments"}

// holder fills a cache from an API server. It calls seen for each object, and returns when the cache has all objects.
// The caller must keep held alive. The cache ends with ctx; end waits for its end.
type holder func(ctx context.Context, b testing.TB, config *rest.Config, seen func()) (held any, end func())

// heap fills a cache with the objects of a kind, and reports its heap memory per object.
func heap(kind schema.GroupVersionKind, objects func() []apiruntime.Object, fill holder) func(b *testing.B) {
	return func(b *testing.B) {
		all := objects()
		server := newAPIServer(map[string][]apiruntime.Object{paths[kind]: all})
		defer server.Close()
		var perObject float64
		for b.Loop() {
			ctx, stop := context.WithCancel(b.Context())
			arrived := newArrivals(len(all))
			before := inUse()
			held, end := fill(ctx, b, &rest.Config{Host: server.URL}, arrived.arrived)
			arrived.wait()
			perObject = float64(inUse()-before) / float64(len(all))
			runtime.KeepAlive(held)
			stop()
			end()
			server.CloseClientConnections()
		}
		runtime.KeepAlive(all)
		b.ReportMetric(perObject, "heap-bytes/object")
	}
}

// inUse returns the size of the live heap. The second collection frees objects that pools have kept during the first
// one.
func inUse() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// ourStore is the View of deploy/cluster with one subscriber, as a watch engine is one.
func ourStore(kind schema.GroupVersionKind, options ...cluster.Option) holder {
	return func(ctx context.Context, b testing.TB, config *rest.Config, seen func()) (any, func()) {
		c, err := cluster.New(ctx, config, options...)
		must(b, err)
		subscription, err := c.View().Subscribe(ctx, kind, func(deploy.Event) { seen() })
		must(b, err)
		must(b, subscription.Synced(ctx))
		return c, c.Wait
	}
}

// peerCache is controller-runtime's cache of typed objects with one handler, as a controller adds one.
func peerCache(example client.Object) holder {
	return func(ctx context.Context, b testing.TB, config *rest.Config, seen func()) (any, func()) {
		held, err := cache.New(config, cache.Options{})
		must(b, err)
		ended := make(chan error, 1)
		go func() { ended <- held.Start(ctx) }()
		informer, err := held.GetInformer(ctx, example)
		must(b, err)
		_, err = informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: func(any) { seen() }})
		must(b, err)
		return held, func() { must(b, <-ended) }
	}
}
