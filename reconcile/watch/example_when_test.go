package watch_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/types"
)

func ExampleWhen() {
	cluster := newCluster()
	// Labels alone are no reason to reconcile a shop, a new status is one.
	counts := filter.Or(filter.Lifecycle(), filter.Generation(), filter.Field("status", "visitors"))
	runUntil(cluster, func(_ *watch.Engine, enough func()) reconcilerFunc {
		reconciles := 0
		return func(ctx context.Context, req request.Request) (request.Result, error) {
			if reconciles++; reconciles == 2 {
				fmt.Println("visitors of", req.Key)
				enough()
				return request.Result{}, nil
			}
			fmt.Println("the start of", req.Key)
			for _, patch := range []deploy.Patch{
				{Body: []byte(`{"metadata":{"labels":{"open":"yes"}}}`)},
				{Body: []byte(`{"status":{"visitors":1}}`), Subresource: "status"},
			} {
				patch.Type, patch.FieldManager = types.MergePatchType, "somebody"
				if _, err := cluster.Port().Patch(ctx, deploy.Ref{Kind: shops, Namespace: "market", Name: "tea"}, patch); err != nil {
					return request.Result{}, err
				}
			}
			return request.Result{}, nil
		}
	}, watch.When(shops, counts))
	// Output:
	// the start of Shop market/tea
	// visitors of Shop market/tea
}

func ExampleWhenOwned() {
	_, err := watch.New(newCluster().View(),
		watch.WhenOwned(shops, configMaps, filter.Content()),
		watch.WhenOwned(shops, configMaps, filter.Not(filter.Created())))
	fmt.Println(err)
	// Output: filter of ConfigMap of Shop.example.dev: is set twice: join them by filter.And or filter.Or
}
