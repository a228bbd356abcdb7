package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/handlers"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// settling bounds how long an object takes to settle.
const settling = 5 * time.Second

// style makes the reconciler of the large resource, in one of the styles.
type style func(ctx context.Context, manager *deploy.Manager) (watch.Reconciler, error)

// usualHandlers are handlers of what happens to most objects. None of them is called for a settled object.
func usualHandlers(kind schema.GroupVersionKind) *handlers.Handlers[handlers.Unstructured] {
	nothing := func(context.Context, *handlers.Request[handlers.Unstructured]) error { return nil }
	h := handlers.New[handlers.Unstructured](kind)
	h.On(handlers.Create|handlers.Resume, "create", nothing)
	h.Field("spec.replicas", "scale", nothing)
	h.On(handlers.Delete, "delete", nothing)
	return h
}

// ofHandlers reconciles by handlers.
func ofHandlers(ctx context.Context, manager *deploy.Manager) (watch.Reconciler, error) {
	return usualHandlers(kind).Reconciler(ctx, handlersEnv(manager))
}

// ofSession reconciles by a session with one component of one object.
func ofSession(_ context.Context, manager *deploy.Manager) (watch.Reconciler, error) {
	return reconcile.New(shop{1, 1}, manager, reconcile.Logger(slog.New(slog.DiscardHandler)))
}

// settledObject is one settled object in a cluster in memory, with an engine that reconciles it.
type settledObject struct {
	memory *dryrun.Cluster
	// began gets the time of each event of the object before the engine has it, ended the time after each reconcile.
	began, ended chan time.Time
	forced       int
}

// settle runs an engine, until ctx ends, and waits until the object is settled. stopped gets the error of the engine.
func settle(ctx context.Context, of style) (o *settledObject, stopped chan error, err error) {
	o = &settledObject{began: make(chan time.Time, 100), ended: make(chan time.Time, 100)}
	if o.memory, err = dryrun.New(dryrun.AnyKind(), dryrun.Objects(largeResource())); err != nil {
		return nil, nil, err
	}
	manager, err := deploy.NewManager(o.memory)
	if err != nil {
		return nil, nil, err
	}
	reconciler, err := of(ctx, manager)
	if err != nil {
		return nil, nil, err
	}
	engine, err := watch.New(timedView{o.memory.View(), o.began}, watch.Logger(slog.New(slog.DiscardHandler)), watch.Around(o.around))
	if err == nil {
		err = engine.Control(kind, reconciler)
	}
	if err != nil {
		return nil, nil, err
	}
	stopped = make(chan error, 1)
	go func() { stopped <- engine.Run(ctx) }()
	for range 3 { // the first one by itself
		err = errors.Join(o.awaitQuiet(), o.force(ctx))
	}
	return o, stopped, errors.Join(err, o.awaitQuiet())
}

func (o *settledObject) around(r watch.Reconciler) watch.Reconciler {
	return timedReconciler{r, o.ended}
}

// awaitQuiet waits until the object was reconciled and nothing follows for a while.
func (o *settledObject) awaitQuiet() error {
	wait := settling
	for {
		select {
		case <-o.ended:
			wait = 50 * time.Millisecond
		case <-o.began:
		case <-time.After(wait):
			if wait == settling {
				return fmt.Errorf("no reconcile within %s", settling)
			}
			return nil
		}
	}
}

// force changes the annotation that forces a reconcile. It is no part of what handlers or sessions act on.
func (o *settledObject) force(ctx context.Context) error {
	o.forced++
	_, err := o.memory.Port().Patch(ctx, deploy.RefOf(largeResource()), deploy.PatchRequest{
		Type: types.MergePatchType, FieldManager: "kubectl",
		Body: fmt.Appendf(nil, `{"metadata":{"annotations":{"%s/reconcile-at":"%d"}}}`, deploy.Domain, o.forced),
	})
	return err
}

// settledPass reports the median time from an event of a settled object to the end of its reconcile, with the filter
// and the queue of the engine and the read from the View. The event is a changed annotation that forces a reconcile
// (watch.Domain): it passes the filters of both styles, and is no update for handlers. The write of the annotation
// isn't part of the time.
func settledPass(of style) func(b *testing.B) {
	return func(b *testing.B) {
		ctx, stop := context.WithCancel(b.Context())
		o, stopped, err := settle(ctx, of)
		must(b, err)
		var times []time.Duration
		for b.Loop() {
			must(b, o.force(ctx))
			began := <-o.began
			times = append(times, (<-o.ended).Sub(began))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)/2]), "median-ns")
		stop()
		must(b, <-stopped)
	}
}

// settledCalls counts the requests of ten passes over a settled object.
func settledCalls(of style) func() (float64, error) {
	return func() (float64, error) {
		ctx, stop := context.WithCancel(context.Background())
		defer stop()
		o, stopped, err := settle(ctx, of)
		if err != nil {
			return 0, err
		}
		recording := o.memory.Record()
		for range 10 {
			if err := errors.Join(o.force(ctx), o.awaitQuiet()); err != nil {
				return 0, err
			}
		}
		calls := len(recording.Calls()) - 10 // the annotations
		stop()
		return float64(calls), <-stopped
	}
}

// timedView tells when it passes an event on.
type timedView struct {
	deploy.View
	began chan<- time.Time
}

// Subscribe implements deploy.View.
func (v timedView) Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	return v.View.Subscribe(ctx, kind, func(event deploy.Event) {
		v.began <- time.Now()
		handle(event)
	})
}

// timedReconciler tells when a reconcile has ended.
type timedReconciler struct {
	watch.Reconciler
	ended chan<- time.Time
}

// Reconcile implements watch.Reconciler.
func (r timedReconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	defer func() { r.ended <- time.Now() }()
	return r.Reconciler.Reconcile(ctx, req)
}
