package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
	"github.com/operkit/operkit/tools/peers/ratio"
)

// watcherPairs are the goals of package watcher.
func watcherPairs() []ratio.Pair {
	return []ratio.Pair{{
		Name: "watcher-event", Goal: 1, Ours: addLatency(ourWatcher), Peer: addLatency(peerWatcher), Metric: "median-ns",
		Hint: "reconcile/watcher/objects.go: what an event takes before its pass; pass.go and internal/typed: what is done before the call",
	}}
}

// bucket is the object of a watcher.
type bucket struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Size int64 `json:"size"`
	} `json:"spec"`
}

// DeepCopyObject implements runtime.Object.
func (b *bucket) DeepCopyObject() runtime.Object {
	return &bucket{b.TypeMeta, *b.ObjectMeta.DeepCopy(), b.Spec}
}

// typedBucket is new object i as a Go type, as a cache of types holds it.
func typedBucket(i int) *bucket {
	made := typedItem(i, 0)
	made.Labels = map[string]string{"tier": "gold"}
	b := &bucket{ObjectMeta: made.ObjectMeta}
	b.Spec.Size = made.Spec.Size
	return b
}

// plainBucket is the same object as a View shows it.
func plainBucket(i int) *unstructured.Unstructured {
	made := plainItem(i, 0)
	made.SetLabels(map[string]string{"tier": "gold"})
	return made
}

// adder starts an engine that calls add with each new object, as a copy of the caller's own. The returned function
// creates object i; it calls now before the engine gets the event.
type adder func(b testing.TB, add func(o *bucket)) (create func(i int, now func()))

// ourWatcher is a watcher of package watcher.
func ourWatcher(b testing.TB, add func(o *bucket)) func(i int, now func()) {
	memory, err := dryrun.New(dryrun.AnyKind())
	must(b, err)
	view := &storedView{pushedView: pushedView{handles: make(chan func(deploy.Event), 1), synced: make(chan struct{})}}
	manager, err := deploy.NewManager(storedCluster{memory, view})
	must(b, err)
	watchers := watcher.New[bucket](kind, watcher.Add("bench", watcher.Simple(watcher.Funcs[bucket]{
		Add: func(_ context.Context, o *bucket) error {
			add(o)
			return nil
		},
	})))
	reconciler, err := watchers.Reconciler(b.Context(), watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now})
	must(b, err)
	engine, err := watch.New(view, watch.Workers(eventWorkers), watch.Logger(slog.New(slog.DiscardHandler)))
	must(b, err)
	must(b, engine.Control(kind, reconciler))
	run(b, engine.Run)
	handle := <-view.handles
	close(view.synced)
	return func(i int, now func()) {
		object := plainBucket(i)
		view.objects.Store(object.GetName(), object)
		now()
		handle(deploy.Event{Type: deploy.Added, New: object})
	}
}

// storedView is a View that the benchmark fills.
type storedView struct {
	pushedView
	objects sync.Map
}

// Get implements deploy.View.
func (v *storedView) Get(_ context.Context, ref deploy.Ref) (*unstructured.Unstructured, error) {
	object, _ := v.objects.Load(ref.Name)
	found, _ := object.(*unstructured.Unstructured)
	return found, nil
}

type storedCluster struct {
	deploy.Cluster
	view deploy.View
}

// View implements deploy.Cluster.
func (c storedCluster) View() deploy.View { return c.view }

// peerWatcher is a controller of controller-runtime that reads the object from its cache.
func peerWatcher(b testing.TB, add func(o *bucket)) func(i int, now func()) {
	again := true
	objects := &storedCache{pushedCache: pushedCache{informer: pushedInformer{handlers: make(chan toolscache.ResourceEventHandler, 1)}}}
	c, err := controller.NewUnmanaged("buckets", controller.Options{
		MaxConcurrentReconciles: eventWorkers,
		SkipNameValidation:      &again,
		Reconciler: reconcile.Func(func(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
			var o bucket
			if err := objects.Get(ctx, req.NamespacedName, &o); err != nil {
				return reconcile.Result{}, err
			}
			add(&o)
			return reconcile.Result{}, nil
		}),
	})
	must(b, err)
	must(b, c.Watch(source.Kind[client.Object](objects, &bucket{}, &handler.EnqueueRequestForObject{})))
	run(b, c.Start)
	events := <-objects.informer.handlers
	return func(i int, now func()) {
		object := typedBucket(i)
		objects.objects.Store(object.GetName(), object)
		now()
		events.OnAdd(object, false)
	}
}

// storedCache is a cache that the benchmark fills.
type storedCache struct {
	pushedCache
	objects sync.Map
}

// Get implements client.Reader as the cache of controller-runtime does: by a deep copy.
func (c *storedCache) Get(_ context.Context, key client.ObjectKey, out client.Object, _ ...client.GetOption) error {
	object, ok := c.objects.Load(key.Name)
	if !ok {
		return fmt.Errorf("%s isn't there", key)
	}
	copied := object.(*bucket).DeepCopyObject().(*bucket)
	*out.(*bucket) = *copied
	return nil
}

// addLatency creates objects at a steady pace, and reports the median time from an event to the call.
func addLatency(start adder) func(b *testing.B) {
	return func(b *testing.B) {
		defer allProcessors()()
		origin := time.Now()
		var given sync.Map
		began := make(chan time.Duration, eventObjects)
		create := start(b, func(o *bucket) {
			now := time.Since(origin)
			since, _ := given.Load(o.Name)
			began <- now - time.Duration(since.(*atomic.Int64).Load())
			time.Sleep(latencyWork)
		})
		var times []time.Duration
		next, object := time.Now(), 0
		for b.Loop() {
			for range latencyEvents {
				next = next.Add(latencyPace)
				time.Sleep(time.Until(next))
				var since atomic.Int64
				given.Store(nameOf(object), &since)
				create(object, func() { since.Store(int64(time.Since(origin))) })
				object++
			}
			for range latencyEvents {
				times = append(times, <-began)
			}
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2]), "median-ns")
		b.ReportMetric(float64(times[len(times)*99/100]), "p99-ns")
	}
}
