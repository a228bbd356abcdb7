package reconcile_test

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
)

// A discount ends at a time at which nothing happens in the cluster.
func ExampleSession_RequeueWithin() {
	ctx := context.Background()
	end := time.Date(2030, 1, 31, 18, 0, 0, 0, time.UTC)
	controller := reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		s.RequeueWithin(end.Sub(s.Now()))
		return nil
	})
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Wait()
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	clock := reconcile.Clock(func() time.Time { return end.Add(-3 * time.Minute) })
	reconciler, err := reconcile.New(controller, manager, clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	tea := reconciletest.Resource(reconciletest.TestedKind, "tea", nil)
	tea.SetNamespace("shop")
	if _, err := cluster.Port().Create(ctx, tea, deploy.CreateOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	result, err := reconciler.Reconcile(ctx, request.Request{Key: deploy.RefOf(tea)})
	fmt.Println(result.RequeueAfter, err)
	// Output:
	// 3m0s <nil>
}
