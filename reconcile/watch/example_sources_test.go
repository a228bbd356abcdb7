package watch_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/types"
)

// choosy is a reconciler that says what brings its objects.
type choosy struct {
	reconcilerFunc
	sources source.Sources
}

// Sources implements source.Provider.
func (c choosy) Sources() source.Sources { return c.sources }

func patchShop(ctx context.Context, cluster deploy.Cluster, patches ...deploy.PatchRequest) error {
	for _, patch := range patches {
		patch.Type, patch.FieldManager = types.MergePatchType, "somebody"
		if _, err := cluster.Port().Patch(ctx, deploy.Ref{Kind: shops, Namespace: "market", Name: "tea"}, patch); err != nil {
			return err
		}
	}
	return nil
}

func Example_sources() {
	cluster := newCluster()
	// Labels alone are no reason to reconcile a shop, a new status is one.
	counts := filter.Or(filter.Lifecycle(), filter.Generation(), filter.Field("status", "visitors"))
	runUntil(cluster, func(_ *watch.Engine, enough func()) watch.Reconciler {
		reconciles := 0
		return choosy{func(ctx context.Context, req request.Request) (request.Result, error) {
			if reconciles++; reconciles == 2 {
				fmt.Println("visitors of", req.Key)
				enough()
				return request.Result{}, nil
			}
			fmt.Println("the start of", req.Key)
			return request.Result{}, patchShop(ctx, cluster,
				deploy.PatchRequest{Body: []byte(`{"metadata":{"labels":{"open":"yes"}}}`)},
				deploy.PatchRequest{Body: []byte(`{"status":{"visitors":1}}`), Subresource: "status"})
		}, source.Sources{When: counts}}
	})
	// Output:
	// the start of Shop market/tea
	// visitors of Shop market/tea
}

// greeter is a reconciler that is told of events too.
type greeter struct{ reconcilerFunc }

// Observe implements watch.Observer.
func (greeter) Observe(event deploy.Event) { fmt.Println(event.Type, event.New.GetName()) }

func ExampleObserver() {
	runUntil(newCluster(), func(_ *watch.Engine, enough func()) watch.Reconciler {
		return greeter{func(context.Context, request.Request) (request.Result, error) {
			enough()
			return request.Result{}, nil
		}}
	})
	// Output: ADDED tea
}

// mindful is a reconciler that remembers something of each object, and forgets it with the object.
type mindful struct{ reconcilerFunc }

// Forget implements watch.Forgetter.
func (mindful) Forget(key deploy.Ref) { fmt.Println("forget", key) }

func ExampleForgetter() {
	cluster := newCluster()
	runUntil(cluster, func(_ *watch.Engine, enough func()) watch.Reconciler {
		return mindful{func(ctx context.Context, req request.Request) (request.Result, error) {
			if req.Triggers.Has(request.Deleted) {
				enough()
				return request.Result{}, nil
			}
			return request.Result{}, cluster.Port().Delete(ctx, req.Key, deploy.DeleteOptions{})
		}}
	})
	// Output: forget Shop market/tea
}

func ExampleDomain() {
	cluster := newCluster()
	runUntil(cluster, func(_ *watch.Engine, enough func()) watch.Reconciler {
		return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
			if req.Triggers.Has(request.Forced) {
				fmt.Println("somebody asked for", req.Key)
				enough()
				return request.Result{}, nil
			}
			fmt.Println("this waits for a change of", req.Key)
			by := deploy.PatchRequest{Body: []byte(`{"metadata":{"annotations":{"example.dev/reconcile-at":"now"}}}`)}
			if err := patchShop(ctx, cluster, by); err != nil {
				return request.Result{}, err
			}
			return request.Result{}, request.Permanent(errors.New("no such region"))
		})
	}, watch.Domain("example.dev"))
	// Output:
	// this waits for a change of Shop market/tea
	// somebody asked for Shop market/tea
}

func ExampleEngine_State() {
	runUntil(newCluster(), func(engine *watch.Engine, enough func()) watch.Reconciler {
		return reconcilerFunc(func(context.Context, request.Request) (request.Result, error) {
			state := engine.State()
			fmt.Println(state.Waiting, "wait,", len(state.Running), "of", state.Workers, "workers are busy, by", state.Running[0].Key)
			for _, kind := range state.Kinds { // its Reason is nil as soon as all objects are known, maybe after the first reconcile
				fmt.Println("to be watched:", kind.Kind.Kind)
			}
			enough()
			return request.Result{}, nil
		})
	}, watch.Workers(2))
	// Output:
	// 0 wait, 1 of 2 workers are busy, by Shop market/tea
	// to be watched: Shop
}

func ExampleState_Stalled() {
	state := watch.State{Waiting: 7, Workers: 1, Running: []watch.Running{{Since: time.Unix(0, 0), Stuck: true}}}
	fmt.Println(state.Stalled())
	// Output: true
}
