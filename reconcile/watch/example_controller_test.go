package watch_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
)

// greeting is for an operator, op.Drive(greeting), or for a test, reconciletest.Drive(t, greeting).
var greeting = watch.NewController(shops, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	return reconcilerFunc(func(ctx context.Context, req request.Request) (request.Result, error) {
		shop, err := env.Manager.View().Get(ctx, req.Key)
		if err != nil || shop == nil {
			return request.Result{}, err
		}
		fmt.Println("hello", shop.GetName(), "at", env.Now().Format(time.Kitchen))
		return request.Result{}, nil
	}), nil
})

func ExampleNewController() {
	manager, err := deploy.NewManager(newCluster())
	if err != nil {
		fmt.Println(err)
		return
	}
	env := watch.Env{Manager: manager, Logger: slog.Default(), Now: func() time.Time { return time.Date(2030, 1, 2, 9, 30, 0, 0, time.UTC) }}
	reconciler, err := greeting.Reconciler(context.Background(), env)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.Ref{Kind: greeting.Kind(), Namespace: "market", Name: "tea"}}); err != nil {
		fmt.Println(err)
	}
	// Output: hello tea at 9:30AM
}
