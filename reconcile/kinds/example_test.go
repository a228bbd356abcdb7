package kinds_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/kinds"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

const shops = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.tea.example.dev}
spec:
  group: tea.example.dev
  names: {kind: Shop, plural: shops}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]`

// counting is a reconciler that works for any kind.
type counting struct{ enough func() }

func (c counting) Reconcile(_ context.Context, req request.Request) (request.Result, error) {
	fmt.Println("reconcile", req.Key)
	c.enough()
	return request.Result{}, nil
}

func Example() {
	cluster, err := dryrun.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := watch.New(cluster.View(), watch.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, enough := context.WithCancel(context.Background())
	driver := kinds.Driver{
		View: cluster.View(), Engine: engine, Logger: slog.New(slog.DiscardHandler), Select: kinds.Selector{Group: "*.example.dev"},
		New: func(_ context.Context, kind deploy.ServedKind) (watch.Reconciler, error) {
			fmt.Println("there are", kind.Resource)
			return counting{enough}, nil
		},
	}
	var running sync.WaitGroup
	running.Go(func() { _ = engine.Run(ctx) })
	running.Go(func() { _ = driver.Run(ctx) })

	for _, text := range []string{shops, "{apiVersion: tea.example.dev/v1, kind: Shop, metadata: {name: green, namespace: default}}"} {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
			fmt.Println(err)
			enough()
		}
		if _, err := cluster.Port().Apply(ctx, obj, deploy.ApplyOptions{FieldManager: "somebody"}); err != nil {
			fmt.Println(err)
			enough()
		}
	}
	running.Wait()
	cluster.Wait()
	// Output:
	// there are shops
	// reconcile Shop default/green
}

func ExampleSelector() {
	for _, selector := range []kinds.Selector{
		{Group: "*.example.dev"},          // all kinds of some groups
		{Group: kinds.Core, Name: "pods"}, // one kind
		{Category: "all"},                 // all kinds of a category
		{Where: func(kind deploy.ServedKind) bool { // what a function says
			return kind.Scope == deploy.Namespaced
		}},
	} {
		fmt.Printf("%q %q %q %t\n", selector.Group, selector.Name, selector.Category, selector.Where != nil)
	}
	// Output:
	// "*.example.dev" "" "" false
	// "core" "pods" "" false
	// "" "" "all" false
	// "" "" "" true
}

func ExampleSelector_Select() {
	cluster, err := dryrun.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, enough := context.WithCancel(context.Background())
	cluster.View().(deploy.KindView).WatchKinds(ctx, func(all []deploy.ServedKind) {
		for _, kind := range (kinds.Selector{Group: "batch"}).Select(all) {
			fmt.Println(kind.Kind.Kind, kind.Names)
		}
		enough()
	})
	// Output:
	// CronJob [cronjob cj]
	// Job [job]
}

func ExampleSelector_Check() {
	fmt.Println(kinds.Selector{Group: "[a"}.Check())
	// Output: selector: group "[a": not a pattern of path.Match: syntax error in pattern
}
