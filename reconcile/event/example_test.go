package event_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func Example() {
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	recorder := event.NewRecorder(cluster.Port(), "shop-operator", "shop-operator-0", nil)
	shop := event.Object{Ref: deploy.Ref{Kind: schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}, Namespace: "town", Name: "tea"}}
	recorder.Record(event.Event{Regarding: shop, Reason: "Opened", Note: "the kettle is on"})
	// What is recorded before the end is written.
	ctx, stop := context.WithCancel(context.Background())
	stop()
	recorder.Run(ctx)
	for _, obj := range cluster.Objects() {
		fmt.Println(obj.GetKind(), obj.Object["type"], obj.Object["reason"], obj.Object["note"])
	}
	// Output: Event Normal Opened the kettle is on
}

func ExampleWarnings() {
	sink := event.Warnings(event.Func(func(e event.Event) { fmt.Println(e.Type, e.Reason) }))
	sink.Record(event.Event{Reason: "Opened"})
	sink.Record(event.Event{Type: event.Warning, Reason: "Closed"})
	// Output: Warning Closed
}

// What can't be written is told once, and counted.
func ExampleRecorder() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := cluster.Fail(dryrun.Fault{Verb: dryrun.VerbCreate, Code: 403}); err != nil { // the right is missing
		fmt.Println(err)
		return
	}
	log := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key != slog.MessageKey && a.Key != slog.LevelKey {
			return slog.Attr{}
		}
		return a
	}}))
	recorder := event.NewRecorder(cluster.Port(), "shop-operator", "shop-operator-0", log)
	recorder.Record(event.Event{Regarding: event.Of(tea()), Type: event.Warning, Reason: "Closed"})
	ctx, stop := context.WithCancel(context.Background())
	stop()
	recorder.Run(ctx)
	fmt.Println(recorder.Dropped())
	// Output:
	// level=WARN msg="an event can't be written"
	// 1
}

func tea() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Shop", "metadata": map[string]any{"name": "tea", "namespace": "town", "uid": "uid-of-tea"},
	}}
}
