package reconcile_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// One resource is looked at closely, by an annotation, while the operator logs what it always does.
func ExampleLoggerOf() {
	tea := shop()
	tea.SetAnnotations(map[string]string{"operkit.dev/log-filters": "till:debug"})
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		panic(err)
	}
	plain := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, attr slog.Attr) slog.Attr {
		if attr.Key == slog.TimeKey || attr.Key == "reconcile" {
			return slog.Attr{}
		}
		return attr
	}})
	reconciler, err := reconcile.New(setup(func(ctx context.Context, _ *reconcile.Session) error {
		reconcile.LoggerOf(ctx).Debug("not asked for")
		reconcile.LoggerOf(ctx).With(reconcile.Channel, "till").Debug("counted", "coins", 3)
		return nil
	}), must(deploy.NewManager(cluster)), reconcile.Logger(slog.New(plain)))
	if err != nil {
		panic(err)
	}
	_, err = reconciler.Reconcile(context.Background(), request.Request{Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}})
	if err != nil {
		panic(err)
	}
	// Output: level=DEBUG msg=counted object="Shop market/tea" channel=till coins=3
}
