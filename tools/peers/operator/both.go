package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/go-logr/logr"
	"github.com/operkit/operkit/operator"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// both has the manager and operkit work until ctx ends. The manager leads, and operkit is one of the things that it
// runs while it does.
func both(ctx context.Context, namespace string) error {
	ctrl.SetLogger(logr.FromSlogHandler(slog.NewTextHandler(os.Stderr, nil)))
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	config.UserAgent = fieldManager
	scheme, err := newScheme()
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
		LeaderElection:                true,
		LeaderElectionID:              "memcached-operator",
		LeaderElectionNamespace:       namespace,
		LeaderElectionReleaseOnCancel: true,
		Metrics:                       metricsserver.Options{BindAddress: os.Getenv("METRICS_ADDRESS")},
	})
	if err != nil {
		return err
	}
	if err := (&MemcachedReconciler{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
		return err
	}
	if err := mgr.Add(operkit("--namespace", namespace, "--metrics.address", os.Getenv("OPERKIT_METRICS_ADDRESS"))); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// operkit is an operator as a Runnable: it is started once the manager leads, and ends in good order with it.
func operkit(flags ...string) manager.RunnableFunc {
	return func(ctx context.Context) error {
		op := operator.New("memcached-operator")
		op.Control(Hello{})
		args := append([]string{"run", "--leader-election.lock", "none"}, flags...)
		if code := op.Execute(ctx, args, os.Stdout, os.Stderr); code != 0 {
			return fmt.Errorf("operkit ended with exit code %d", code)
		}
		return nil
	}
}
