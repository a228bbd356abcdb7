package deploy_test

import (
	"context"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func ExampleManager_Diff() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "good morning"))))
	differences, err := m.Diff(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello"), newConfigMap("db", "hello")},
		deploy.Conflicts(deploy.Force))
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Println(d.Ref, d.Action)
	}
	fmt.Println(differences[0].Changes[0])
	fmt.Print(differences)
	// Output:
	// ConfigMap shop/web configured
	// ConfigMap shop/db created
	// .data.greeting: "good morning" -> "hello"
	// --- ConfigMap shop/web (live)
	// +++ ConfigMap shop/web (applied)
	// @@ -1,6 +1,6 @@
	//  apiVersion: v1
	//  data:
	// -  greeting: good morning
	// +  greeting: hello
	//  kind: ConfigMap
	//  metadata:
	//    name: web
	// --- /dev/null
	// +++ ConfigMap shop/db (applied)
	// @@ -0,0 +1,7 @@
	// +apiVersion: v1
	// +data:
	// +  greeting: hello
	// +kind: ConfigMap
	// +metadata:
	// +  name: db
	// +  namespace: shop
}

func ExampleManager_DiffDelete() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "good morning")), deploy.EvenForeign()))
	differences, err := m.DiffDelete(context.Background(), []*unstructured.Unstructured{newConfigMap("web", ""), newConfigMap("db", "")})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Println(d.Ref, d.Action)
	}
	fmt.Print(differences)
	// Output:
	// ConfigMap shop/web deleted
	// ConfigMap shop/db skipped
	// --- ConfigMap shop/web (live)
	// +++ /dev/null
	// @@ -1,7 +0,0 @@
	// -apiVersion: v1
	// -data:
	// -  greeting: good morning
	// -kind: ConfigMap
	// -metadata:
	// -  name: web
	// -  namespace: shop
}

func ExampleManager_DiffSet() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory()))
	if _, err := m.ApplySet(ctx, folderSet, []*unstructured.Unstructured{newConfigMap("web", "hello"), newConfigMap("db", "hello")}); err != nil {
		log.Fatal(err)
	}
	differences, err := m.DiffSet(ctx, folderSet, []*unstructured.Unstructured{newConfigMap("web", "hello")})
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range differences {
		fmt.Printf("%s %s %q\n", d.Ref, d.Action, d.Reason)
	}
	// Output:
	// ConfigMap shop/web unchanged ""
	// ConfigMap shop/db deleted "it is in the set and not among its objects any more"
}

func ExampleDifferences_Changed() {
	m := must(deploy.NewManager(newMemory()))
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello")}
	for range 2 {
		differences, err := m.Diff(context.Background(), objects)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(differences.Changed())
		if _, err := m.Apply(context.Background(), objects); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// true
	// false
}

func ExampleDifferences_Err() {
	nameless := newConfigMap("", "hello")
	differences, err := must(deploy.NewManager(newMemory())).Diff(context.Background(), []*unstructured.Unstructured{nameless})
	fmt.Println(differences[0].Action)
	fmt.Println(differences.Err())
	fmt.Println(err)
	// Output:
	// failed
	// ConfigMap without name: invalid manifest: metadata.name is missing
	// ConfigMap without name: invalid manifest: metadata.name is missing
}

func ExampleDifferences_String() {
	fmt.Print(deploy.Differences{{Unified: "--- a\n+++ b\n"}, {}, {Unified: "--- c\n+++ d\n"}})
	// Output:
	// --- a
	// +++ b
	// --- c
	// +++ d
}

// Elements of a list are matched by its merge keys, which managedFields contain.
func ExampleChanges() {
	pod := func(image string) map[string]any {
		return map[string]any{
			"metadata": map[string]any{"name": "web", "managedFields": []any{map[string]any{
				"manager": "operkit", "operation": "Apply",
				"fieldsV1": map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{`k:{"name":"app"}`: map[string]any{}}}},
			}}},
			"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": image}}},
		}
	}
	for _, change := range deploy.Changes(pod("app:1"), pod("app:2")) {
		fmt.Println(change.Path)
		fmt.Println(change)
	}
	// Output:
	// .spec.containers[name="app"].image
	// .spec.containers[name="app"].image: "app:1" -> "app:2"
}

func ExampleChange_String() {
	fmt.Println(deploy.Change{Path: ".spec.replicas", Before: 1, After: 3})
	fmt.Println(deploy.Change{Path: ".metadata.labels", After: map[string]any{"app": "web"}})
	// Output:
	// .spec.replicas: 1 -> 3
	// .metadata.labels: none -> {"app":"web"}
}
