package size_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/kit/size"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// A controller whose workloads have the size that the resource names. An operator passes the option to Control.
func ExampleComponents() {
	table, err := size.ReadYAML([]byte(sizes))
	if err != nil {
		fmt.Println(err)
		return
	}
	sized, err := size.Components(table, size.Default("small"))
	if err != nil {
		fmt.Println(err)
		return
	}
	tea := shop(fields{"size": "large"})
	tea.SetNamespace("default")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(tea))
	if err != nil {
		fmt.Println(err)
		return
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		fmt.Println(err)
		return
	}
	controller := reconciletest.Controlling(shops, func(_ context.Context, s *reconcile.Session) error {
		s.Add("web", deployment("web", "web"))
		return nil
	})
	reconciler, err := reconcile.New(controller, manager, sized)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.RefOf(tea)}); err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range cluster.Objects() {
		if obj.GetKind() == "Deployment" {
			fmt.Println(obj.Object["spec"].(map[string]any)["replicas"])
		}
	}
	// Output: 3
}

func ExampleRead() {
	_, err := size.Read(map[string]any{
		"small": map[string]any{"web": map[string]any{"replicas": "1"}},
		"large": map[string]any{"web": 3, "db": -1},
	})
	fmt.Println(err)
	// Output:
	// table of sizes: large.db: it is negative: use 0 or more
	// small.web.replicas: it is the text "1": write a number, without quotes
	// small: it lacks the component db, which other sizes have: add it
}

func ExampleReadYAML() {
	table, err := size.ReadYAML([]byte("small: {web: 1}\nlarge: {web: {replicas: 3}}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Sizes(), table.Components())
	// Output: [large small] [web]
}

func ExampleTable_For() {
	table, err := size.ReadYAML([]byte(sizes))
	if err != nil {
		fmt.Println(err)
		return
	}
	web, err := table.For("large", "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	resources, _ := web.ResourcesOf("web")
	fmt.Println(*web.Replicas, resources.Limits.Memory())
	_, err = table.For("huge", "web")
	fmt.Println(err)
	// Output:
	// 3 2Gi
	// there is no size "huge": use one of large, small
}

func ExampleTable_Of() {
	table, err := size.ReadYAML([]byte(sizes))
	if err != nil {
		fmt.Println(err)
		return
	}
	web, err := table.Of(shop(map[string]any{
		"size": "large", "overrides": map[string]any{"web": map[string]any{"replicas": int64(0)}},
	}), "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*web.Replicas)
	// Output: 0
}

func ExampleValues_Set() {
	table, err := size.ReadYAML([]byte("small: {web: {replicas: 2}}"))
	if err != nil {
		fmt.Println(err)
		return
	}
	web, err := table.For("small", "web")
	if err != nil {
		fmt.Println(err)
		return
	}
	obj := &unstructured.Unstructured{Object: deployment("web", "web")}
	fmt.Println(web.Set(obj).Object["spec"].(map[string]any)["replicas"])
	// Output: 2
}

// People may add an autoscaler to this component themselves.
func ExampleScaled() {
	table, err := size.ReadYAML([]byte(sizes))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = size.Components(table, size.Scaled(func(s *reconcile.Session, component string) bool {
		return component == "web" && s.Resource().GetAnnotations()["example.com/autoscaled"] == "true"
	}))
	fmt.Println(err)
	// Output: <nil>
}

// The resources of an operator that name their size in other fields.
func ExampleField() {
	table, err := size.ReadYAML([]byte(sizes))
	if err != nil {
		fmt.Println(err)
		return
	}
	options := []size.Option{size.Field("spec.flavour"), size.Overrides("spec.components"), size.Layer("web.sizes")}
	web, err := table.Of(shop(map[string]any{
		"flavour": "large", "components": map[string]any{"web": map[string]any{"replicas": int64(5)}},
	}), "web", options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*web.Replicas)
	_, err = size.Components(table, options...)
	fmt.Println(err)
	// Output:
	// 5
	// <nil>
}
