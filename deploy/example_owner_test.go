package deploy_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/operkit/operkit/deploy"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func ExampleAsController() {
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart")), deploy.AsController()))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(metav1.GetControllerOf(results[0].Object).Name)
	// Output: cart
}

func ExampleOwnedByLabel() {
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart")), deploy.OwnedByLabel()))
	elsewhere := newConfigMap("web", "hello")
	elsewhere.SetNamespace("bank")
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{elsewhere})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results[0].ByLabel, results[0].Object.GetLabels())
	// Output: true map[operkit.dev/owner-uid:uid-of-cart]
}

func ExampleManager_Tracked() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart")), deploy.OwnedByLabel()))
	elsewhere := newConfigMap("web", "hello")
	elsewhere.SetNamespace("bank")
	if _, err := m.Apply(ctx, []*unstructured.Unstructured{elsewhere}); err != nil {
		log.Fatal(err)
	}
	// Before the owner goes:
	tracked, err := m.Tracked(ctx, []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}})
	if err != nil {
		log.Fatal(err)
	}
	results, err := m.Delete(ctx, tracked)
	fmt.Println(results[0].Ref, results[0].Action, err)
	// Output: ConfigMap bank/web deleted <nil>
}

func ExampleManager_Owned() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart"))))
	if _, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", ""), newConfigMap("db", "")}); err != nil {
		log.Fatal(err)
	}
	owned, err := m.Owned(ctx, []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}, nil)
	for _, obj := range owned {
		fmt.Println(deploy.RefOf(obj))
	}
	fmt.Println(err)
	// Output:
	// ConfigMap shop/db
	// ConfigMap shop/web
	// <nil>
}

func ExampleManager_Owned_wanted() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart"))))
	if _, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", ""), newConfigMap("db", "")}); err != nil {
		log.Fatal(err)
	}
	wanted := func(ref deploy.Ref) bool { return ref.Name == "web" }
	owned, err := m.Owned(ctx, []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}, wanted)
	for _, obj := range owned {
		fmt.Println("not wanted any more:", deploy.RefOf(obj))
	}
	fmt.Println(err)
	// Output:
	// not wanted any more: ConfigMap shop/db
	// <nil>
}

func ExampleControlledToo() {
	ctx, memory, cart := context.Background(), newMemory(), newOwner("cart")
	given := newConfigMap("given", "")
	given.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(cart, cart.GroupVersionKind())})
	if _, err := memory.Port().Create(ctx, given, deploy.CreateOptions{FieldManager: "kubectl"}); err != nil {
		log.Fatal(err)
	}
	m := must(deploy.NewManager(memory, deploy.OwnedBy(cart)))
	kinds := []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}
	applied, err := m.Owned(ctx, kinds, nil)
	fmt.Println(len(applied), err)
	controlled, err := m.Owned(ctx, kinds, nil, deploy.ControlledToo())
	fmt.Println(len(controlled), err)
	// Output:
	// 0 <nil>
	// 1 <nil>
}

func ExampleNotBlocking() {
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart")), deploy.NotBlocking()))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	fmt.Println(*results[0].Object.GetOwnerReferences()[0].BlockOwnerDeletion, err)
	// Output: false <nil>
}

func ExamplePropagate() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello")), deploy.EvenForeign()))
	results, err := m.Delete(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "")},
		deploy.Propagate(metav1.DeletePropagationBackground))
	fmt.Println(results[0].Action, err)
	// Output: deleted <nil>
}

func ExampleEvenForeign() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello"))))
	for _, options := range [][]deploy.Option{nil, {deploy.EvenForeign()}} {
		results, err := m.Delete(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "")}, options...)
		fmt.Println(results[0].Action, err)
	}
	// Output:
	// conflict ConfigMap shop/web: isn't ours to delete: to delete it anyway, use kubectl or the option deploy.EvenForeign
	// deleted <nil>
}

func ExampleOwnerKinds() {
	restored := newConfigMap("web", "hello")
	restored.SetNamespace("bank")
	restored.SetAnnotations(map[string]string{"operkit.dev/applied-operkit": "before"})
	restored.SetLabels(map[string]string{"operkit.dev/owner-uid": "uid-of-nobody"})
	m := must(deploy.NewManager(newMemory(restored), deploy.OwnedBy(newOwner("cart")), deploy.OwnedByLabel(),
		deploy.OwnerKinds(schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Basket"})))
	elsewhere := newConfigMap("web", "hello")
	elsewhere.SetNamespace("bank")
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{elsewhere})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results[0].Action, results[0].Object.GetLabels())
	// Output: configured map[operkit.dev/owner-uid:uid-of-cart]
}

func ExampleUnknownOwnerKinds() {
	restored := newConfigMap("web", "hello")
	restored.SetNamespace("bank")
	restored.SetAnnotations(map[string]string{"operkit.dev/applied-operkit": "before"})
	restored.SetLabels(map[string]string{"operkit.dev/owner-uid": "uid-of-somebody"})
	m := must(deploy.NewManager(newMemory(restored), deploy.OwnedBy(newOwner("cart")), deploy.OwnedByLabel(), deploy.UnknownOwnerKinds()))
	elsewhere := newConfigMap("web", "hello")
	elsewhere.SetNamespace("bank")
	results, _ := m.Apply(context.Background(), []*unstructured.Unstructured{elsewhere})
	fmt.Println(results[0].Action)
	// Output: conflict
}

func ExampleUntilGone() {
	held := newConfigMap("web", "hello")
	held.SetFinalizers([]string{"example.com/backup"})
	m := must(deploy.NewManager(newMemory(held), deploy.EvenForeign()))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_, err := m.Delete(ctx, []*unstructured.Unstructured{held}, deploy.UntilGone())
	fmt.Println(err)
	// Output: ConfigMap shop/web: not in time: it is being deleted and waits for the finalizers example.com/backup: context deadline exceeded
}

func ExampleManager_AddOwner() {
	ctx := context.Background()
	orphan := newConfigMap("web", "hello")
	cart := newOwner("cart")
	memory := newMemory(cart, orphan)
	m := must(deploy.NewManager(memory, deploy.OwnedBy(cart), deploy.Adopt(deploy.AdoptUnowned)))
	live := must(memory.Port().Get(ctx, deploy.RefOf(orphan)))
	result, err := m.AddOwner(ctx, live)
	fmt.Println(result.Action, err)
	fmt.Println(result.Object.GetOwnerReferences()[0].Name)
	// Output:
	// configured <nil>
	// cart
}

func ExampleManager_RemoveOwner() {
	ctx := context.Background()
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart"))))
	results, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "hello")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(results[0].Object.GetOwnerReferences()))
	result, err := m.RemoveOwner(ctx, results[0].Object)
	fmt.Println(result.Action, err)
	fmt.Println(len(result.Object.GetOwnerReferences()))
	// Output:
	// 1
	// configured <nil>
	// 0
}
