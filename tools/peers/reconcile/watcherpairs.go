package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
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

// bucketList is what a client lists.
type bucketList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []bucket `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (l *bucketList) DeepCopyObject() runtime.Object {
	copied := &bucketList{TypeMeta: l.TypeMeta, ListMeta: *l.ListMeta.DeepCopy()}
	for i := range l.Items {
		copied.Items = append(copied.Items, *l.Items[i].DeepCopyObject().(*bucket))
	}
	return copied
}

// newBucket is the event of new object i.
func newBucket(i int) []byte {
	made := plainItem(i, 0)
	made.SetLabels(map[string]string{"tier": "gold"})
	return line("ADDED", made)
}

// adder starts an operator of a kind whose events come from a wire, and calls add with each new object, as a copy of
// the caller's own.
type adder func(b testing.TB, w *wire, add func(o *bucket))

// ourWatcher is a watcher of package watcher.
func ourWatcher(b testing.TB, w *wire, add func(o *bucket)) {
	silent := slog.New(slog.DiscardHandler)
	c, err := cluster.New(b.Context(), w.config(), cluster.Logger(silent))
	must(b, err)
	b.Cleanup(c.Wait)
	manager, err := deploy.NewManager(c)
	must(b, err)
	watchers := watcher.New[bucket](kind, watcher.Add("bench", watcher.Simple(watcher.Funcs[bucket]{
		Add: func(_ context.Context, o *bucket) error {
			add(o)
			return nil
		},
	})))
	reconciler, err := watchers.Reconciler(b.Context(), watch.Env{Manager: manager, Logger: silent, Now: time.Now})
	must(b, err)
	engine, err := watch.New(c.View(), watch.Workers(eventWorkers), watch.Logger(silent))
	must(b, err)
	must(b, engine.Control(kind, reconciler))
	run(b, engine.Run)
}

// peerWatcher is a controller of controller-runtime that reads the object from its cache.
func peerWatcher(b testing.TB, w *wire, add func(o *bucket)) {
	known := runtime.NewScheme()
	known.AddKnownTypeWithName(kind, &bucket{})
	known.AddKnownTypeWithName(kind.GroupVersion().WithKind(kind.Kind+"List"), &bucketList{})
	metav1.AddToGroupVersion(known, kind.GroupVersion())
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(kind, meta.RESTScopeNamespace)
	objects, err := cache.New(w.config(), cache.Options{Scheme: known, Mapper: mapper})
	must(b, err)
	run(b, objects.Start)
	again := true
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
}

// addLatency creates objects at a steady pace, and reports the median time from the arrival of an event to the call.
func addLatency(start adder) func(b *testing.B) {
	return func(b *testing.B) {
		defer allProcessors()()
		origin := time.Now()
		var given sync.Map
		began := make(chan time.Duration, eventObjects)
		w := newWire()
		start(b, w, func(o *bucket) {
			now := time.Since(origin)
			since, _ := given.Load(o.Name)
			began <- now - time.Duration(since.(*atomic.Int64).Load())
			time.Sleep(latencyWork)
		})
		events := <-w.watches
		create := func(i int) {
			var since atomic.Int64
			given.Store(nameOf(i), &since)
			event := newBucket(i)
			since.Store(int64(time.Since(origin)))
			_, err := events.Write(event)
			must(b, err)
		}
		create(0)
		<-began // both sides run
		var times []time.Duration
		next, object := time.Now(), 1
		for b.Loop() {
			for range latencyEvents {
				next = next.Add(latencyPace)
				time.Sleep(time.Until(next))
				create(object)
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
