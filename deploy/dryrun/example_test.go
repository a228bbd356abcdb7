package dryrun_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func exampleConfigMap(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"},
		"data":     map[string]any{"greeting": "hello"},
	}}
}

// A cluster in memory takes the place of a real one.
func ExampleNew() {
	cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		log.Fatal(err)
	}
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

// The objects of one cluster can start another one, for example to simulate a restart.
func ExampleObjects() {
	before, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(exampleConfigMap("web"), exampleConfigMap("db")))
	if err != nil {
		log.Fatal(err)
	}
	after, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(before.Objects()...))
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

// The scope of a kind without a definition must be given.
func ExampleAnyKind_clusterScoped() {
	region := schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Region"}
	cluster, err := dryrun.New(dryrun.AnyKind(region.GroupKind()))
	if err != nil {
		log.Fatal(err)
	}
	scope, err := cluster.Port().Scope(context.Background(), region)
	fmt.Println(scope, err)
	// Output: Cluster <nil>
}

// With a fixed clock the objects are the same in every run.
func ExampleClock() {
	clock := func() time.Time { return time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC) }
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Clock(clock), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	obj := cluster.Objects()[0]
	fmt.Println(obj.GetUID(), obj.GetResourceVersion(), obj.GetCreationTimestamp().UTC())
	// Output: d72770d0-0000-4000-8000-000000000001 1 2030-01-02 03:04:05 +0000 UTC
}

// A subscription gets the existing objects, and then each change in the order of versions.
func ExampleCluster_View() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(exampleConfigMap("web")))
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

// The Port sends single requests, as any client does.
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

// Without AnyKind a cluster serves the same kinds as a server: built-in ones, and those of the
// CustomResourceDefinitions in it.
func ExampleAnyKind() {
	cart := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Cart", "metadata": map[string]any{"name": "c", "namespace": "default"},
	}}
	for _, options := range [][]dryrun.Option{nil, {dryrun.AnyKind()}} {
		cluster, err := dryrun.New(options...)
		if err != nil {
			log.Fatal(err)
		}
		_, err = cluster.Port().Apply(context.Background(), cart, deploy.ApplyOptions{FieldManager: "example"})
		fmt.Println(err)
	}
	// Output:
	// kind Cart of shop.example.com/v1 is not served by the cluster: install its CustomResourceDefinition or correct apiVersion and kind
	// <nil>
}

// Fields that a schema doesn't have are refused, unless Schemaless is given.
func ExampleSchemaless() {
	made := exampleConfigMap("web")
	made.Object["price"] = int64(7)
	for _, option := range []dryrun.Option{dryrun.Namespaces("*"), dryrun.Schemaless()} {
		cluster, err := dryrun.New(option)
		if err != nil {
			log.Fatal(err)
		}
		_, err = cluster.Port().Apply(context.Background(), made, deploy.ApplyOptions{FieldManager: "example"})
		var invalid *deploy.InvalidError
		fmt.Println(errors.As(err, &invalid))
	}
	// Output:
	// true
	// false
}

// Namespaces must exist, as on a server.
func ExampleNamespaces() {
	for _, names := range [][]string{nil, {"shop"}} {
		cluster, err := dryrun.New(dryrun.Namespaces(names...))
		if err != nil {
			log.Fatal(err)
		}
		_, err = cluster.Port().Apply(context.Background(), exampleConfigMap("web"), deploy.ApplyOptions{FieldManager: "example"})
		fmt.Println(err)
	}
	// Output:
	// ConfigMap shop/web: not found: namespaces "shop" not found
	// <nil>
}

// All namespaces may exist.
func ExampleNamespaces_all() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		log.Fatal(err)
	}
	_, err = cluster.Port().Apply(context.Background(), exampleConfigMap("web"), deploy.ApplyOptions{FieldManager: "example"})
	fmt.Println(err, len(cluster.Objects()))
	// Output: <nil> 1
}

// A server deletes an object that references an owner that doesn't exist.
func ExampleCollectUnknownOwners() {
	leaf := exampleConfigMap("leaf")
	leaf.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "root", UID: "gone"}})
	for _, options := range [][]dryrun.Option{nil, {dryrun.CollectUnknownOwners()}} {
		cluster, err := dryrun.New(append(options, dryrun.Namespaces("*"))...)
		if err != nil {
			log.Fatal(err)
		}
		if _, err := cluster.Port().Apply(context.Background(), leaf, deploy.ApplyOptions{FieldManager: "example"}); err != nil {
			log.Fatal(err)
		}
		fmt.Println(len(cluster.Objects()))
	}
	// Output:
	// 1
	// 0
}

// Admission can change or refuse each write.
// cautious refuses deletions.
type cautious struct{}

func (cautious) Mutate(context.Context, *dryrun.Write) error { return nil }

func (cautious) Validate(_ context.Context, w *dryrun.Write) error {
	if w.Object == nil {
		return apierrors.NewForbidden(w.Resource.GroupResource(), w.Ref.Name, errors.New("it is still needed"))
	}
	return nil
}

func ExampleAsk() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Ask(cautious{}), dryrun.Objects(exampleConfigMap("settings")))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(cluster.Port().Delete(context.Background(), deploy.RefOf(exampleConfigMap("settings")), deploy.DeleteOptions{}))
	// Output: configmaps: delete in namespace shop was refused: configmaps "settings" is forbidden: it is still needed
}

func ExampleAdmit() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Admit(func(_ dryrun.AdmissionRequest, _, next *unstructured.Unstructured) error {
		if next.GetLabels()["team"] == "" {
			return errors.New("say whose it is by the label team")
		}
		return nil
	}))
	if err != nil {
		log.Fatal(err)
	}
	_, err = cluster.Port().Apply(context.Background(), exampleConfigMap("web"), deploy.ApplyOptions{FieldManager: "example"})
	var forbidden *deploy.ForbiddenError
	fmt.Println(errors.As(err, &forbidden), errors.Unwrap(err))
	// Output: true say whose it is by the label team
}

// Faults show how a client handles errors of the cluster.
func ExampleCluster_Fail() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Fail(dryrun.Fault{Verb: dryrun.VerbPatch, Count: 1, Code: 429, RetryAfter: time.Second}); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		_, err := cluster.Port().Apply(context.Background(), exampleConfigMap("web"), deploy.ApplyOptions{FieldManager: "example"})
		var unavailable *deploy.UnavailableError
		if errors.As(err, &unavailable) {
			fmt.Println("again in", unavailable.RetryAfter)
			continue
		}
		fmt.Println(err)
	}
	// Output:
	// again in 1s
	// <nil>
}

// A test that wraps a Port refuses requests with the errors of a real cluster.
func ExampleFault_Answer() {
	settings := deploy.RefOf(exampleConfigMap("web"))
	fmt.Println(dryrun.Fault{Code: 404}.Answer(dryrun.Call{Verb: dryrun.VerbGet, Ref: settings}))
	// Output: ConfigMap shop/web: not found: the server could not find the requested resource (get configmaps web)
}

// Heal removes all faults.
func ExampleCluster_Heal() {
	cluster, err := dryrun.New()
	if err != nil {
		log.Fatal(err)
	}
	if err := cluster.Fail(dryrun.Fault{Code: 503}); err != nil {
		log.Fatal(err)
	}
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, Name: "default"}
	_, err = cluster.Port().Get(context.Background(), ref)
	fmt.Println(err != nil)
	cluster.Heal()
	_, err = cluster.Port().Get(context.Background(), ref)
	fmt.Println(err != nil)
	// Output:
	// true
	// false
}

// A recording shows which requests a manager sent.
func ExampleCluster_Record() {
	cluster, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	recording := cluster.Record()
	manager, err := deploy.NewManager(cluster)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		if _, err := manager.Apply(context.Background(), []*unstructured.Unstructured{exampleConfigMap("web")}); err != nil {
			log.Fatal(err)
		}
		for _, call := range recording.Take() {
			fmt.Println(call)
		}
	}
	// Output: apply ConfigMap shop/web
}

// Calls returns the whole recording, also after Stop.
func ExampleRecording() {
	cluster, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	recording := cluster.Record()
	for _, name := range []string{"web", "db"} {
		if _, err := cluster.Port().Apply(context.Background(), exampleConfigMap(name), deploy.ApplyOptions{FieldManager: "example"}); err != nil {
			log.Fatal(err)
		}
		recording.Stop()
	}
	fmt.Println(recording.Calls())
	// Output: [apply ConfigMap shop/web]
}

// A watch can continue where an earlier one ended, as long as the history has the events since then.
func ExampleCluster_Watch() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"))
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		if _, err := cluster.Port().Apply(context.Background(), exampleConfigMap(name), deploy.ApplyOptions{FieldManager: "example"}); err != nil {
			log.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan deploy.Event)
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	_, err = cluster.Watch(ctx, kind, dryrun.WatchOptions{ResourceVersion: "1"}, func(event deploy.Event) { events <- event })
	if err != nil {
		log.Fatal(err) // a *dryrun.ExpiredError if the events since then aren't kept any more
	}
	event := <-events
	fmt.Println(event.Type, event.New.GetName())
	cancel()
	cluster.Wait()
	// Output: ADDED b
}

// A watch can't continue from before the objects that the cluster had from the start.
func ExampleExpiredError() {
	cluster, err := dryrun.New(dryrun.Namespaces("*"), dryrun.Objects(exampleConfigMap("web")))
	if err != nil {
		log.Fatal(err)
	}
	kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
	_, err = cluster.Watch(context.Background(), kind, dryrun.WatchOptions{ResourceVersion: "0"}, func(deploy.Event) {})
	var expired *dryrun.ExpiredError
	fmt.Println(errors.As(err, &expired), err)
	// Output: true events since resourceVersion 0: not kept any more, list again: too old resource version: 0 (1)
}

func ExampleCluster_Selected() {
	memory, err := dryrun.New(dryrun.Namespaces("shop"))
	if err != nil {
		log.Fatal(err)
	}
	web := labels.SelectorFromSet(labels.Set{"tier": "web"})
	client := memory.Selected(schema.GroupKind{Kind: "ConfigMap"}, web, nil)
	ctx, cancel := context.WithCancel(context.Background())
	events := make(chan deploy.EventType, 2)
	if _, err := client.View().Subscribe(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, func(event deploy.Event) {
		events <- event.Type
	}); err != nil {
		log.Fatal(err)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "settings", "namespace": "shop", "labels": map[string]any{"tier": "web"},
	}}}
	if _, err := client.Port().Create(ctx, obj, deploy.CreateOptions{FieldManager: "me"}); err != nil {
		log.Fatal(err)
	}
	// Somebody else takes the label away.
	if _, err := memory.Port().Patch(ctx, deploy.RefOf(obj), deploy.PatchRequest{
		Type: types.MergePatchType, Body: []byte(`{"metadata":{"labels":null}}`), FieldManager: "kubectl",
	}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(<-events, <-events)
	cancel()
	memory.Wait()
	// Output: ADDED LEFT
}

func ExampleClient_Selected() {
	memory, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		log.Fatal(err)
	}
	web := labels.SelectorFromSet(labels.Set{"tier": "web"})
	client := memory.Selected(schema.GroupKind{Kind: "ConfigMap"}, web, nil).Selected(schema.GroupKind{Kind: "Secret"}, web, nil)
	secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{
		"name": "password", "namespace": "shop",
	}}}
	_, err = client.Port().Create(context.Background(), secret, deploy.CreateOptions{FieldManager: "me"})
	fmt.Println(err)
	// Output: Secret shop/password: invalid manifest: only objects of its kind that match tier=web are watched: add the label or field, or use a Cluster without Selected
}
