package watcher_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/watch"
	"github.com/operkit/operkit/reconcile/watcher"
)

// printing runs watchers, and prints their log and their events.
func printing[T any](watchers *watcher.Watchers[T]) *reconciletest.Harness {
	return reconciletest.Drive(console{}, watch.NewController(buckets, func(ctx context.Context, env watch.Env) (watch.Reconciler, error) {
		env.Logger = slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		env.Events = event.Func(func(e event.Event) { fmt.Println(e.Type, e.Reason, e.Note) })
		return watchers.Reconciler(ctx, env)
	}))
}

func ExampleLogger() {
	h := printing(watcher.New[Bucket](buckets, watcher.Add("cloud", watcher.Simple(watcher.Funcs[Bucket]{
		Add: func(ctx context.Context, b *Bucket) error {
			watcher.Logger(ctx).Info("bucket created", "size", b.Spec.Size)
			return nil
		},
	}))))
	h.Apply(small)
	h.RunUntilSettled()
	// Output: level=INFO msg="bucket created" object="Bucket test/small" watcher=cloud action=CREATE size=1
}

func ExampleRecord() {
	h := printing(watcher.New[Bucket](buckets, watcher.Add("cloud", watcher.Simple(watcher.Funcs[Bucket]{
		Add: func(ctx context.Context, b *Bucket) error {
			watcher.Record(ctx, event.Normal, "BucketCreated", "the cloud has a bucket of size %d", b.Spec.Size)
			return nil
		},
	}))))
	h.Apply(small)
	h.RunUntilSettled()
	// Output: Normal BucketCreated the cloud has a bucket of size 1
}

func ExampleSetStatus() {
	watchers := watcher.New[withStatus](buckets, watcher.WritesStatus(), watcher.Add("cloud", watcher.Simple(watcher.Funcs[withStatus]{
		Add: func(ctx context.Context, b *withStatus) error {
			return watcher.SetStatus(ctx, func(current *withStatus) { current.Status.Size = b.Spec.Size })
		},
	})))
	h := reconciletest.Drive(console{}, watchers)
	h.Apply(small)
	h.RunUntilSettled()
	fmt.Println(h.Get("Bucket small").Object["status"])
	// Output: map[size:1]
}
