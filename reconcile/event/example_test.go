package event_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func Example() {
	cluster, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	recorder := event.NewRecorder(cluster.Port(), "shop-operator", "shop-operator-0")
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
