package dryrun_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func exampleConfigMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"},
		"data":     map[string]any{"greeting": "hello"},
	}}
}

// A cluster in memory stands in for a real one.
func ExampleNew() {
	cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	manager := deploy.NewManager(cluster)
	objects := []*unstructured.Unstructured{exampleConfigMap("web"), exampleConfigMap("db")}
	for range 2 {
		results, err := manager.Apply(context.Background(), objects)
		if err != nil {
			log.Fatal(err)
		}
		for _, result := range results {
			fmt.Println(result.Ref, result.Action)
		}
	}
	// Output:
	// ConfigMap shop/web configured
	// ConfigMap shop/db created
	// ConfigMap shop/web unchanged
	// ConfigMap shop/db unchanged
}

// What is in a cluster can start another one, for instance to play a restart.
func ExampleObjects() {
	before, err := dryrun.New(dryrun.AnyNamespace(), dryrun.Objects(exampleConfigMap("web"), exampleConfigMap("db")))
	if err != nil {
		log.Fatal(err)
	}
	after, err := dryrun.New(dryrun.AnyNamespace(), dryrun.Objects(before.Objects()...))
	if err != nil {
		log.Fatal(err)
	}
	for _, obj := range after.Objects() {
		fmt.Println(deploy.RefOf(obj))
	}
	// Output:
	// ConfigMap shop/web
	// ConfigMap shop/db
}

// Of a kind that nobody declares only its scope can be told.
func ExampleClusterScoped() {
	region := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Region"}
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.ClusterScoped(region.GroupKind()))
	if err != nil {
		log.Fatal(err)
	}
	scope, err := cluster.Port().Scope(context.Background(), region)
	fmt.Println(scope, err)
	// Output: Cluster <nil>
}

// With a clock of one's own the objects are the same in every run.
func ExampleClock() {
	clock := func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	cluster, err := dryrun.New(dryrun.AnyNamespace(), dryrun.Clock(clock), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	obj := cluster.Objects()[0]
	fmt.Println(obj.GetUID(), obj.GetResourceVersion(), obj.GetCreationTimestamp().UTC())
	// Output: d72770d0-0000-4000-8000-000000000001 1 2030-01-02 03:04:05 +0000 UTC
}

// A subscription hears of what exists, and then of each change in the order of versions.
func ExampleCluster_View() {
	cluster, err := dryrun.New(dryrun.AnyNamespace(), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan deploy.Event)
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	if _, err := cluster.View().Subscribe(ctx, kind, func(event deploy.Event) { events <- event }); err != nil {
		log.Fatal(err)
	}
	show := func(event deploy.Event) { fmt.Println(event.Type, event.New.GetName(), event.New.GetResourceVersion()) }
	show(<-events)
	ref := deploy.Ref{Kind: kind, Namespace: "shop", Name: "web"}
	if err := cluster.Port().Delete(ctx, ref, deploy.DeleteOptions{}); err != nil {
		log.Fatal(err)
	}
	show(<-events)
	cancel()
	cluster.Wait()
	// Output:
	// ADDED web 1
	// DELETED web 2
}

// The Port takes single requests, as any client might send them.
func ExampleCluster_Port() {
	cluster, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	applied, err := cluster.Port().Apply(context.Background(), exampleConfigMap("web"), deploy.ApplyOptions{FieldManager: "example"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(applied.Created, applied.Object.GetManagedFields()[0].FieldsV1)
	// Output: true {"f:data":{"f:greeting":{}}}
}
