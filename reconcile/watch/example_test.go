package watch_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var (
	shops      = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

// reconcilerFunc is a Reconciler made of a function.
type reconcilerFunc func(ctx context.Context, req request.Request) (request.Result, error)

func (f reconcilerFunc) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	return f(ctx, req)
}

func object(kind schema.GroupVersionKind, name string) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	obj.SetNamespace("market")
	obj.SetName(name)
	return obj
}

// newCluster holds one shop.
func newCluster() *dryrun.Cluster {
	shop := object(shops, "tea")
	shop.SetUID("uid-of-tea")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop))
	if err != nil {
		fmt.Println(err)
	}
	return cluster
}

// runUntil runs an engine over cluster until reconcile says that it is enough.
func runUntil[R watch.Reconciler](cluster *dryrun.Cluster, reconcile func(engine *watch.Engine, enough func()) R, options ...watch.Option) {
	options = append([]watch.Option{watch.Logger(slog.New(slog.DiscardHandler))}, options...)
	engine, err := watch.New(cluster.View(), options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, enough := context.WithCancel(context.Background())
	if err := engine.Control(shops, reconcile(engine, enough)); err != nil {
		fmt.Println(err)
	}
	if err := engine.Run(ctx); err != nil {
		fmt.Println(err)
	}
	cluster.Wait()
}

func Example() {
	cluster := newCluster()
	engine, err := watch.New(cluster.View(), watch.Workers(2), watch.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, stop := context.WithCancel(context.Background()) // a program takes signal.NotifyContext
	err = engine.Control(shops, reconcilerFunc(func(_ context.Context, req request.Request) (request.Result, error) {
		fmt.Println("reconcile", req.Key)
		stop()
		return request.Result{}, nil
	}))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(engine.Run(ctx))
	// Output:
	// reconcile Shop market/tea
	// <nil>
}

func ExampleNew() {
	_, err := watch.New(newCluster().View(), watch.Workers(0))
	fmt.Println(err)
	// Output: workers: 0: at least 1 is needed
}

func ExampleEngine_Control() {
	engine, err := watch.New(newCluster().View())
	if err != nil {
		fmt.Println(err)
		return
	}
	nothing := reconcilerFunc(func(context.Context, request.Request) (request.Result, error) { return request.Result{}, nil })
	fmt.Println(engine.Control(shops, nothing, watch.Workers(1), watch.Timeout(time.Hour)))
	fmt.Println(engine.Control(shops, nothing))
	fmt.Println(engine.Controls(shops), engine.Controls(configMaps))
	// Output:
	// <nil>
	// example.dev/v1, Kind=Shop: has a reconciler already
	// true false
}

func ExampleEngine_Run() {
	tries := 0
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(_ context.Context, req request.Request) (request.Result, error) {
			fmt.Println("try", req.Attempt)
			if tries++; tries < 3 {
				return request.Result{}, errors.New("not today")
			}
			enough()
			return request.Result{}, nil
		}
	}, watch.Backoff(time.Millisecond, time.Second))
	// Output:
	// try 0
	// try 1
	// try 2
}

func ExampleEngine_Own() {
	cluster := newCluster()
	runUntil(cluster, func(engine *watch.Engine, enough func()) reconcilerFunc {
		created := false
		return func(ctx context.Context, req request.Request) (request.Result, error) {
			if created {
				fmt.Println("the child of", req.Key, "has changed")
				enough()
				return request.Result{}, nil
			}
			// Before the first child is written, so that nothing is missed.
			if err := engine.Own(ctx, shops, configMaps); err != nil {
				return request.Result{}, err
			}
			created = true
			sign := object(configMaps, "sign")
			sign.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Shop", Name: "tea", UID: "uid-of-tea"}})
			_, err := cluster.Port().Apply(ctx, sign, deploy.ApplyOptions{FieldManager: "example"})
			return request.Result{}, err
		}
	})
	// Output: the child of Shop market/tea has changed
}

// oneShop reconciles once and prints what it is given.
func oneShop(_ *watch.Engine, enough func()) reconcilerFunc {
	return func(_ context.Context, req request.Request) (request.Result, error) {
		fmt.Println(req.Key)
		enough()
		return request.Result{}, nil
	}
}

func ExampleWorkers() {
	runUntil(newCluster(), oneShop, watch.Workers(1))
	// Output: Shop market/tea
}

func ExampleTimeout() {
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(ctx context.Context, _ request.Request) (request.Result, error) {
			<-ctx.Done()
			fmt.Println(context.Cause(ctx))
			enough()
			return request.Result{}, context.Cause(ctx)
		}
	}, watch.Timeout(time.Millisecond))
	// Output: the reconcile took longer than 1ms: context deadline exceeded
}

func ExampleGrace() {
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(ctx context.Context, _ request.Request) (request.Result, error) {
			enough()
			<-ctx.Done()
			fmt.Println(context.Cause(ctx))
			return request.Result{}, context.Cause(ctx)
		}
	}, watch.Grace(time.Millisecond))
	// Output: the grace time of 1ms is over: context canceled
}

func ExampleFilter() {
	cluster := newCluster()
	runUntil(cluster, func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(_ context.Context, req request.Request) (request.Result, error) {
			fmt.Println(req.Key)
			enough()
			return request.Result{}, nil
		}
	}, watch.Filter(filter.Created()))
	// Output: Shop market/tea
}

func ExampleBackoff() {
	_, err := watch.New(newCluster().View(), watch.Backoff(time.Minute, time.Second))
	fmt.Println(err)
	// Output: backoff: 1m0s to 1s: both must be positive, the second not shorter
}

func ExampleLogger() {
	plain := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}, Level: slog.LevelWarn}))
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) reconcilerFunc {
		return func(context.Context, request.Request) (request.Result, error) {
			enough()
			return request.Result{}, request.Permanent(errors.New("no such region"))
		}
	}, watch.Logger(plain))
	// Output: level=ERROR msg="reconcile failed, waiting for a change" object="Shop market/tea" error="no such region"
}

func ExampleEngine_Follow() {
	cluster := newCluster()
	prices := deploy.Ref{Kind: configMaps, Namespace: "market", Name: "prices"}
	runUntil(cluster, func(engine *watch.Engine, enough func()) reconcilerFunc {
		return func(ctx context.Context, req request.Request) (request.Result, error) {
			if err := engine.Follow(ctx, req.Key, prices); err != nil {
				return request.Result{}, err
			}
			found, err := cluster.View().Get(ctx, prices)
			if err != nil || found != nil {
				fmt.Println("prices are there:", found != nil, err)
				enough()
				return request.Result{}, err
			}
			fmt.Println("no prices yet")
			_, err = cluster.Port().Create(ctx, object(configMaps, "prices"), deploy.CreateOptions{FieldManager: "somebody"})
			return request.Result{}, err
		}
	})
	// Output:
	// no prices yet
	// prices are there: true <nil>
}

func ExampleEngine_FollowAll() {
	cluster := newCluster()
	prices := labels.SelectorFromSet(labels.Set{"content": "prices"})
	runUntil(cluster, func(engine *watch.Engine, enough func()) reconcilerFunc {
		return func(ctx context.Context, req request.Request) (request.Result, error) {
			if err := engine.FollowAll(ctx, req.Key, configMaps, "market", prices); err != nil {
				return request.Result{}, err
			}
			found, err := cluster.View().List(ctx, configMaps, "market", prices)
			if err != nil || len(found) == 2 {
				fmt.Println("enough lists of prices", err)
				enough()
				return request.Result{}, err
			}
			list := object(configMaps, fmt.Sprint("prices-", len(found)))
			list.SetLabels(map[string]string{"content": "prices"})
			fmt.Println("one more:", list.GetName())
			_, err = cluster.Port().Create(ctx, list, deploy.CreateOptions{FieldManager: "somebody"})
			return request.Result{}, err
		}
	})
	// Output:
	// one more: prices-0
	// one more: prices-1
	// enough lists of prices <nil>
}

func ExampleEngine_Release() {
	cluster := newCluster()
	runUntil(cluster, func(engine *watch.Engine, enough func()) reconcilerFunc {
		return func(ctx context.Context, _ request.Request) (request.Result, error) {
			go func() { // when the definition of the kind was deleted, for example
				fmt.Println(engine.Release(context.WithoutCancel(ctx), shops), len(engine.State().Kinds))
				enough()
			}()
			<-ctx.Done()
			fmt.Println(context.Cause(ctx))
			return request.Result{}, ctx.Err()
		}
	})
	// Output:
	// the kind is no longer reconciled: context canceled
	// <nil> 0
}

func ExampleAround() {
	timed := watch.Around(func(next watch.Reconciler) watch.Reconciler {
		return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
			fmt.Println("begins", req.Key)
			defer fmt.Println("ends", req.Key)
			return next.Reconcile(ctx, req)
		})
	})
	engine, err := watch.New(newCluster().View(), timed, watch.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, enough := context.WithCancel(context.Background())
	reconcile := reconcilerFunc(func(context.Context, request.Request) (request.Result, error) {
		fmt.Println("is reconciled")
		enough()
		return request.Result{}, nil
	})
	if err := engine.Control(shops, reconcile); err != nil {
		fmt.Println(err)
		return
	}
	if err := engine.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// begins Shop market/tea
	// is reconciled
	// ends Shop market/tea
}
