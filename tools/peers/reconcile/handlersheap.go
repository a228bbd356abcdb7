package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
)

// handledDeployments returns the Deployments of watch-deployments after handlers have settled them: with a finalizer
// and the record of handlers.
var handledDeployments = sync.OnceValue(func() []runtime.Object {
	handled, err := handle(deployments())
	if err != nil {
		panic(err)
	}
	return handled
})

// handle returns Deployments as they are after a pass of the usual handlers.
func handle(deployments []runtime.Object) ([]runtime.Object, error) {
	plain := make([]*unstructured.Unstructured, len(deployments))
	namespaces := make([]string, teams)
	for i := range namespaces {
		namespaces[i] = fmt.Sprintf("team-%d", i)
	}
	for i, obj := range deployments {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil, err
		}
		plain[i] = &unstructured.Unstructured{Object: content}
		plain[i].SetGroupVersionKind(deploymentKind)
	}
	memory, err := dryrun.New(dryrun.Namespaces(namespaces...), dryrun.Objects(plain...))
	if err != nil {
		return nil, err
	}
	manager, err := deploy.NewManager(memory)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	reconciler, err := usualHandlers(deploymentKind).Reconciler(ctx, handlersEnv(manager))
	if err != nil {
		return nil, err
	}
	handled := make([]runtime.Object, len(plain))
	for i := range plain {
		ref := deploy.RefOf(plain[i])
		if _, err := reconciler.Reconcile(ctx, request.Request{Key: ref}); err != nil {
			return nil, err
		}
		settled, err := memory.View().Get(ctx, ref)
		if err != nil {
			return nil, err
		}
		typed := &appsv1.Deployment{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(settled.Object, typed); err != nil {
			return nil, fmt.Errorf("%s: %w", ref, err)
		}
		handled[i] = typed
	}
	return handled, nil
}

// handledStore is the View of deploy/cluster with an engine whose handlers make a pass over each object, as after a
// restart of the process.
func handledStore(ctx context.Context, b testing.TB, config *rest.Config, seen func()) (any, func()) {
	c, err := cluster.New(ctx, config)
	must(b, err)
	manager, err := deploy.NewManager(c)
	must(b, err)
	reconciler, err := usualHandlers(deploymentKind).Reconciler(ctx, handlersEnv(manager))
	must(b, err)
	engine, err := watch.New(c.View(), watch.Logger(slog.New(slog.DiscardHandler)), watch.Around(func(r watch.Reconciler) watch.Reconciler {
		return settledReconciler{b, r, seen}
	}))
	must(b, err)
	must(b, engine.Control(deploymentKind, reconciler))
	stopped := make(chan error, 1)
	go func() { stopped <- engine.Run(ctx) }()
	return engine, func() {
		must(b, <-stopped)
		c.Wait()
	}
}

// settledReconciler calls seen after each reconcile, none of which may fail.
type settledReconciler struct {
	b testing.TB
	watch.Reconciler
	seen func()
}

// Reconcile implements watch.Reconciler.
func (r settledReconciler) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	result, err := r.Reconciler.Reconcile(ctx, req)
	if err != nil {
		r.b.Error(err)
	}
	r.seen()
	return result, err
}

// handlersEnv is the environment of handlers in an operator.
func handlersEnv(manager *deploy.Manager) watch.Env {
	return watch.Env{Manager: manager, Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}
