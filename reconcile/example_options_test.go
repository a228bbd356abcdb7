package reconcile_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// emptyCluster holds one shop.
func emptyCluster() *dryrun.Cluster {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop()))
	if err != nil {
		fmt.Println(err)
	}
	return cluster
}

func ExampleNew() {
	reconciler, err := reconcile.New(Shop{}, must(deploy.NewManager(emptyCluster(), deploy.FieldManager("market-operator"))))
	fmt.Println(reconciler.Kind().Kind, err)
	_, err = reconcile.New(Shop{}, nil)
	fmt.Println(err)
	// Output:
	// Shop <nil>
	// controller reconcile_test.Shop: nil manager
}

func ExampleReconciler_Reconcile() {
	reconciler, err := reconcile.New(Shop{}, must(deploy.NewManager(emptyCluster())))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range []string{"tea", "nobody's"} {
		result, err := reconciler.Reconcile(context.Background(), request.Request{
			Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: name},
		})
		fmt.Println(name, result.RequeueAfter, err)
	}
	// Output:
	// tea 1m0s <nil>
	// nobody's 0s <nil>
}

func ExampleDryRun() {
	cluster := emptyCluster()
	reconcileAgain(cluster, Shop{}, reconcile.DryRun())
	show(cluster)
	// Output:
	//   Shop tea: Updating Stable, Rollout Complete
	//   Deployment tea-store
	//   ConfigMap tea-door
}

func ExampleObserveComponents() {
	reconcileAgain(emptyCluster(), Shop{}, reconcile.DryRun(), reconcile.ObserveComponents(func(c *reconcile.Component, results deploy.Results) {
		for _, result := range results {
			fmt.Printf("%s: %s %s\n", c.Name(), result.Ref, result.Action)
		}
	}))
	// Output:
	// store: Deployment market/tea-store created
	// door: ConfigMap market/tea-door created
}

func ExampleConcurrency() {
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		for _, name := range []string{"c", "a", "b"} {
			s.Add(name, configMap(name))
		}
		return nil
	}), reconcile.Concurrency(0), reconcile.ObserveComponents(func(c *reconcile.Component, _ deploy.Results) { fmt.Println(c.Name()) }))
	// Output:
	// a
	// b
	// c
}

func ExampleFinalizerName() {
	cluster := emptyCluster()
	controller := closing{func(context.Context, *reconcile.Session) error { return nil }}
	reconcileAgain(cluster, controller, reconcile.FinalizerName("example.dev/close-first"))
	fmt.Println(cluster.Objects()[0].GetFinalizers())
	// Output: [example.dev/close-first]
}

func ExampleRecheck() {
	reconciler, err := reconcile.New(Shop{}, must(deploy.NewManager(emptyCluster())), reconcile.Recheck(5*time.Second))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := reconciler.Reconcile(context.Background(), request.Request{
		Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"},
	})
	fmt.Println(result.RequeueAfter, err)
	// Output: 5s <nil>
}

func ExamplePeriod() {
	controller := setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	})
	reconciler, err := reconcile.New(controller, must(deploy.NewManager(emptyCluster())), reconcile.Period(time.Hour))
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := reconciler.Reconcile(context.Background(), request.Request{
		Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"},
	})
	fmt.Println(result.RequeueAfter, err)
	// Output: 1h0m0s <nil>
}

func ExampleClock() {
	cluster := emptyCluster()
	noon := func() time.Time { return time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC) }
	reconcileAgain(cluster, Shop{}, reconcile.Clock(noon))
	conditions := cluster.Objects()[0].Object["status"].(map[string]any)["conditions"].([]any)
	fmt.Println(conditions[0].(map[string]any)["lastTransitionTime"])
	// Output: 2030-01-02T12:00:00Z
}

func ExampleLogger() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "reconcile" {
			return slog.Attr{}
		}
		return a
	}}))
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		s.Logger().Info("opening")
		return nil
	}), reconcile.Logger(plain))
	// Output: level=INFO msg=opening object="Shop market/tea"
}

func ExampleWithWatcher() {
	reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	}), reconcile.WithWatcher(watching{}))
	// Output: Shop owns ConfigMap
}
