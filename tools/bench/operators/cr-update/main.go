// Command cr-update is an operator for Bundles, written by experienced users of controller-runtime. Each child goes
// through controllerutil.CreateOrUpdate with a function that sets only the wanted fields, so that defaults of the API
// server cause no update. It is the style of teams that know the library's details: predicates, a cache without managed
// fields, a client that reads its own writes.
package main

import (
	"flag"
	"fmt"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	benchv1 "github.com/operkit/operkit/tools/bench/api/v1"
)

func main() {
	namespace := flag.String("namespace", "", "namespace to watch, all if empty")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseDevMode(false)))
	if err := run(*namespace); err != nil {
		ctrl.Log.Error(err, "operator failed")
		os.Exit(1)
	}
}

// run runs the operator until a signal ends it. The flag --kubeconfig is controller-runtime's own.
func run(namespace string) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = 1000, 2000
	scheme, err := newScheme()
	if err != nil {
		return fmt.Errorf("scheme: %w", err)
	}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme,
		Cache:  cacheOptions(namespace),
		// Otherwise a reconcile right after another one might not see the other's writes in the cache, and would write
		// again.
		Client:                 client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: new(true)}},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	reconciler := &bundleReconciler{Client: mgr.GetClient()}
	if err := reconciler.setupWithManager(mgr); err != nil {
		return fmt.Errorf("controller of Bundles: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

// newScheme knows the groups that the operator handles and no others.
func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, benchv1.AddToScheme} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// cacheOptions leaves out managed fields, which nothing here reads and which are a large part of an object.
func cacheOptions(namespace string) cache.Options {
	options := cache.Options{DefaultTransform: cache.TransformStripManagedFields()}
	if namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return options
}
