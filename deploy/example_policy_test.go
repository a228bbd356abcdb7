package deploy_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// somebodyEdits changes the greeting in ConfigMap shop/web.
func somebodyEdits(port deploy.Port, greeting string) {
	edit := deploy.PatchRequest{Type: types.MergePatchType, Body: fmt.Appendf(nil, `{"data":{"greeting":%q}}`, greeting), FieldManager: "kubectl"}
	if _, err := port.Patch(context.Background(), deploy.RefOf(newConfigMap("web", "")), edit); err != nil {
		log.Fatal(err)
	}
}

func ExampleConflicts() {
	memory := newMemory()
	m := must(deploy.NewManager(memory))
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello")}
	show := func(options ...deploy.Option) {
		results, err := m.Apply(context.Background(), objects, options...)
		fmt.Println(results[0].Action, results[0].Taken, results[0].Kept, err)
	}
	show()
	somebodyEdits(memory.Port(), "go away")
	show(deploy.Conflicts(deploy.Keep, ".data.greeting"))
	show(deploy.Conflicts(deploy.Fail))
	show() // fields that this manager applied before are taken back
	// Output:
	// created [] [] <nil>
	// unchanged [] [{.data.greeting kubectl conflict with "kubectl"}] <nil>
	// conflict [] [] ConfigMap shop/web: fields belong to another manager: .data.greeting (conflict with "kubectl"): leave them out of the manifest, or take them over by the option deploy.Conflicts
	// configured [{.data.greeting kubectl conflict with "kubectl"}] [] <nil>
}

func ExampleDefaultStrategy() {
	memory := newMemory()
	m := must(deploy.NewManager(memory))
	for _, greeting := range []string{"hello", "good morning"} {
		results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", greeting)}, deploy.DefaultStrategy(deploy.OnDelete))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0].Action, results[0].Object.Object["data"])
	}
	// Output:
	// created map[greeting:hello]
	// skipped map[greeting:hello]
}

func ExampleProtected() {
	fmt.Println(deploy.Protected(schema.GroupKind{Kind: "PersistentVolumeClaim"}), deploy.Protected(schema.GroupKind{Kind: "ConfigMap"}))
	// Output: true false
}

func ExampleImmutable() {
	m := must(deploy.NewManager(newMemory(), deploy.DefaultStrategy(deploy.Recreate),
		deploy.Immutable(schema.GroupKind{Kind: "ConfigMap"}, ".data.greeting")))
	for _, greeting := range []string{"hello", "good morning"} {
		results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", greeting)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0].Action)
	}
	// Output:
	// created
	// recreated
}

func ExampleRecreateWait() {
	held := newConfigMap("web", "hello")
	held.SetFinalizers([]string{"example.com/backup"})
	m := must(deploy.NewManager(newMemory(held), deploy.DefaultStrategy(deploy.Recreate), deploy.RecreateWait(10*time.Millisecond),
		deploy.Immutable(schema.GroupKind{Kind: "ConfigMap"}, ".data.greeting")))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "good morning")})
	fmt.Println(results[0].Action)
	fmt.Println(err)
	// Output:
	// deleted
	// ConfigMap shop/web: not in time: it is being deleted and waits for the finalizers example.com/backup: context deadline exceeded
}

func ExampleManager_MadeFrom() {
	job := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "batch/v1", "kind": "Job", "metadata": map[string]any{"generateName": "nightly-", "namespace": "shop"},
	}}
	m := must(deploy.NewManager(newMemory(), deploy.DefaultStrategy(deploy.CreateOnly)))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{job})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.MadeFrom(results[0].Object, job), m.MadeFrom(newConfigMap("nightly-1", ""), job))
	// Output: true false
}

func ExampleRetryFor() {
	m := must(deploy.NewManager(newMemory(), deploy.RetryFor(5*time.Second)))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	fmt.Println(results[0].Action, results[0].Calls, err)
	// Output: created 1 <nil>
}

func ExampleConcurrency() {
	m := must(deploy.NewManager(newMemory(), deploy.Concurrency(2)))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("a", ""), newConfigMap("b", ""), newConfigMap("c", "")})
	for _, result := range results {
		fmt.Println(result.Ref, result.Action)
	}
	fmt.Println(err)
	// Output:
	// ConfigMap shop/a created
	// ConfigMap shop/b created
	// ConfigMap shop/c created
	// <nil>
}

func ExampleWaitReady() {
	memory := newMemory()
	var started sync.Once
	up := func(obj *unstructured.Unstructured) bool {
		started.Do(func() { go somebodyEdits(memory.Port(), "I am up") })
		greeting, _, err := unstructured.NestedString(obj.Object, "data", "greeting")
		return err == nil && greeting == "I am up"
	}
	results, err := must(deploy.NewManager(memory)).Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")}, deploy.WaitReady(up))
	fmt.Println(results[0].Object.Object["data"], err)
	// Output: map[greeting:I am up] <nil>
}

func ExampleTakeOverFrom() {
	ctx, memory := context.Background(), newMemory()
	if _, err := must(deploy.NewManager(memory, deploy.FieldManager("installer"))).Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "hello")}); err != nil {
		log.Fatal(err)
	}
	somebodyEdits(memory.Port(), "good morning")
	m := must(deploy.NewManager(memory, deploy.TakeOverFrom("kubectl")))
	for range 2 {
		results, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "good evening")})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0].Action, results[0].Object.Object["data"])
	}
	// Output:
	// configured map[greeting:good evening]
	// unchanged map[greeting:good evening]
}

func ExampleDefaultNamespace() {
	obj := newConfigMap("web", "hello")
	obj.SetNamespace("")
	results, err := must(deploy.NewManager(newMemory(), deploy.DefaultNamespace("shop"))).Apply(context.Background(), []*unstructured.Unstructured{obj})
	fmt.Println(results[0].Ref, err)
	// Output: ConfigMap shop/web <nil>
}

func ExampleManager_Namespace() {
	m := must(deploy.NewManager(newMemory(), deploy.DefaultNamespace("platform")))
	owner := newOwner("cart")
	fmt.Println(m.Namespace(), must(m.With(deploy.OwnedBy(owner))).Namespace())
	owner.SetNamespace("") // a cluster-scoped one
	fmt.Println(must(m.With(deploy.OwnedBy(owner))).Namespace())
	// Output:
	// platform shop
	// platform
}

func ExampleOnResult() {
	report := func(result deploy.Result) { fmt.Println(result.Ref, result.Action) }
	_, err := must(deploy.NewManager(newMemory(), deploy.OnResult(report), deploy.Concurrency(1))).
		Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello"), newConfigMap("db", "hello")})
	fmt.Println(err)
	// Output:
	// ConfigMap shop/web created
	// ConfigMap shop/db created
	// <nil>
}

func ExampleKindStrategy() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.KindStrategy(schema.GroupKind{Kind: "ConfigMap"}, deploy.RecreateOnChange)))
	for _, greeting := range []string{"hello", "hello", "good morning"} {
		results, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", greeting)})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0].Action)
	}
	// Output:
	// created
	// unchanged
	// recreated
}

func ExampleManager_Unchanged() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory()))
	if _, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "hello")}); err != nil {
		log.Fatal(err)
	}
	for _, greeting := range []string{"hello", "good morning"} {
		unchanged, err := m.Unchanged(ctx, newConfigMap("web", greeting))
		fmt.Println(greeting, unchanged, err)
	}
	// Output:
	// hello true <nil>
	// good morning false <nil>
}
