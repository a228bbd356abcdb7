package main

import (
	"context"
	"log/slog"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
)

// ourEngine runs reconcile/watch with the standard filter. Its View gets its events from the benchmark: plain objects,
// as in every View.
func ourEngine(b testing.TB, reconcile func(name string)) func(i int) {
	all := newVersions(plainItem)
	view := pushedView{handles: make(chan func(deploy.Event), 1), synced: make(chan struct{})}
	engine, err := watch.New(view, watch.Workers(eventWorkers), watch.Logger(slog.New(slog.DiscardHandler)))
	must(b, err)
	existing := newArrivals(eventObjects)
	must(b, engine.Control(kind, reconcilerFunc(func(name string) {
		existing.arrived()
		reconcile(name)
	})))
	run(b, engine.Run)
	handle := <-view.handles
	for _, obj := range all.all[0] {
		handle(deploy.Event{Type: deploy.Added, New: obj})
	}
	close(view.synced)
	existing.wait()
	return func(i int) {
		before, after := all.update(i)
		handle(deploy.Event{Type: deploy.Modified, Old: before, New: after})
	}
}

// reconcilerFunc is a watch.Reconciler that needs only the name.
type reconcilerFunc func(name string)

// Reconcile implements watch.Reconciler.
func (f reconcilerFunc) Reconcile(_ context.Context, req request.Request) (request.Result, error) {
	f(req.Key.Name)
	return request.Result{}, nil
}

// pushedView is a View whose events are pushed by the benchmark. The engine reads nothing through it.
type pushedView struct {
	deploy.View
	handles chan func(deploy.Event)
	synced  chan struct{}
}

// Subscribe implements deploy.View.
func (p pushedView) Subscribe(_ context.Context, _ schema.GroupVersionKind, handle func(deploy.Event)) (deploy.Subscription, error) {
	p.handles <- handle
	return pushedSubscription{p.synced}, nil
}

type pushedSubscription struct{ synced chan struct{} }

// Synced implements deploy.Subscription.
func (s pushedSubscription) Synced(ctx context.Context) error {
	select {
	case <-s.synced:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run runs a side's engine until the test or benchmark ends.
func run(b testing.TB, engine func(ctx context.Context) error) {
	ended := make(chan error, 1)
	go func() { ended <- engine(b.Context()) }()
	b.Cleanup(func() { must(b, <-ended) })
}
