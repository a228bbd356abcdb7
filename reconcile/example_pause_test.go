package reconcile_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pausedShop is a shop that somebody has paused.
func pausedShop(value string) *unstructured.Unstructured {
	paused := shop()
	paused.SetAnnotations(map[string]string{"operkit.dev/pause-execution": value})
	return paused
}

// pausedCluster holds one shop, paused, and what reconciles it at noon.
func pausedCluster(value string, options ...reconcile.Option) (*dryrun.Cluster, *reconcile.Reconciler) {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(pausedShop(value)))
	if err != nil {
		fmt.Println(err)
	}
	noon := func() time.Time { return time.Date(2030, 1, 31, 12, 0, 0, 0, time.UTC) }
	options = append(options, reconcile.Clock(noon), reconcile.Logger(slog.New(slog.DiscardHandler)))
	reconciler, err := reconcile.New(Shop{}, must(deploy.NewManager(cluster)), options...)
	if err != nil {
		fmt.Println(err)
	}
	return cluster, reconciler
}

var teaRequest = request.Request{Key: deploy.Ref{Kind: ShopKind, Namespace: "market", Name: "tea"}}

// A resource that is paused until a time: its status says so, and nothing else happens before that time.
func Example_pause() {
	cluster, reconciler := pausedCluster("2030-01-31T12:05:00Z")
	result, err := reconciler.Reconcile(context.Background(), teaRequest)
	fmt.Println("again after", result.RequeueAfter, err)
	for _, obj := range cluster.Objects() {
		paused, _ := status.Conditions(obj).Get(reconcile.ConditionPaused)
		fmt.Println(obj.GetKind(), obj.GetName(), paused.Status, paused.Reason)
		fmt.Println(paused.Message)
	}
	// Output:
	// again after 5m0s <nil>
	// Shop tea True PausedUntil
	// The annotation operkit.dev/pause-execution is a time: the resource isn't reconciled before 2030-01-31T12:05:00Z unless the annotation is removed; its deletion doesn't wait
}

func ExamplePauseDeletions() {
	cluster, reconciler := pausedCluster("true", reconcile.PauseDeletions())
	_, err := reconciler.Reconcile(context.Background(), teaRequest)
	paused, _ := status.Conditions(cluster.Objects()[0]).Get(reconcile.ConditionPaused)
	fmt.Println(paused.Message, err)
	// Output:
	// The annotation operkit.dev/pause-execution is "true": the resource isn't reconciled until the annotation is removed; its deletion waits too <nil>
}

func ExampleReconciler_Tally() {
	_, reconciler := pausedCluster("true")
	fmt.Println(reconciler.Tally().Resources)
	if _, err := reconciler.Reconcile(context.Background(), teaRequest); err != nil {
		fmt.Println(err)
	}
	fmt.Println(reconciler.Tally().Resources)
	// Output:
	// map[]
	// map[paused:1]
}

func ExampleReconciler_Forget() {
	_, reconciler := pausedCluster("true")
	if _, err := reconciler.Reconcile(context.Background(), teaRequest); err != nil {
		fmt.Println(err)
	}
	// As the engine does, for one in a namespace that is watched no longer.
	reconciler.Forget(teaRequest.Key)
	fmt.Println(reconciler.Tally().Resources)
	// Output: map[]
}
