package labels_test

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/labels"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
)

// In Setup, Of makes the labels of a component.
func ExampleOf() {
	controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
		l := labels.Of(s, "web")
		l.PartOf = "mall"
		fmt.Println(l.Name, l.Instance, l.Component, l.PartOf, l.ManagedBy)
		return nil
	})
	tea := reconciletest.Resource(shops, "tea", nil)
	tea.SetNamespace("default")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster, deploy.FieldManager("shop-operator"))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(controller, manager)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.RefOf(tea)}); err != nil {
		fmt.Println(err)
	}
	// Output: shop tea web mall shop-operator
}

func ExampleLabels_All() {
	l := labels.Labels{Name: "shop", Instance: "tea", Component: "web", Version: "1.2.3"}
	for _, key := range slices.Sorted(maps.Keys(l.All())) {
		fmt.Println(key, l.All()[key], l.Selector()[key] != "")
	}
	// Output:
	// app.kubernetes.io/component web true
	// app.kubernetes.io/instance tea true
	// app.kubernetes.io/name shop true
	// app.kubernetes.io/version 1.2.3 false
}

func ExampleLabels_With() {
	l := labels.Labels{Name: "shop", Instance: "tea"}
	all, err := l.With(map[string]string{"colour": "green"})
	fmt.Println(all["colour"], err)
	_, err = l.With(map[string]string{"app.kubernetes.io/name": "mine"})
	fmt.Println(err)
	// Output:
	// green <nil>
	// label app.kubernetes.io/name: it is set by the operator: remove it
}

func ExampleValue() {
	fmt.Println(labels.Value("1.2.3"))
	fmt.Println(labels.Value("1.2.3+build"))
	// Output:
	// 1.2.3
	// 1.2.3-build-c0cd83b4
}
