package reconcile_test

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
)

// An operator that is installed twice, in two versions that greet in another way.
func ExampleReconciler_Tally_contested() {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop()))
	if err != nil {
		fmt.Println(err)
		return
	}
	install := func(greeting string) *reconcile.Reconciler {
		r, err := reconcile.New(setup(func(_ context.Context, s *reconcile.Session) error {
			sign := configMap("sign")
			sign.Object["data"] = map[string]any{"greeting": greeting}
			s.Add("door", sign)
			return nil
		}), must(deploy.NewManager(cluster)), reconcile.Logger(slog.New(slog.DiscardHandler)))
		if err != nil {
			fmt.Println(err)
		}
		return r
	}
	one, other := install("hello"), install("good morning")
	for range 10 {
		_, _ = one.Reconcile(context.Background(), teaRequest)
		_, _ = other.Reconcile(context.Background(), teaRequest)
	}
	fmt.Println(one.Tally().Contested, other.Tally().Contested)
	// Output: 1 1
}
