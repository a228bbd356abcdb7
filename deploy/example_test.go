package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

func newConfigMap(name, greeting string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": name, "namespace": "shop"},
		"data":     map[string]any{"greeting": greeting},
	}}
}

func newOwner(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "shop.example.com/v1", "kind": "Cart",
		"metadata": map[string]any{"name": name, "namespace": "shop", "uid": "uid-of-" + name},
	}}
}

// newMemory returns a cluster in memory; use cluster.New for a real one.
func newMemory(objects ...*unstructured.Unstructured) *dryrun.Cluster {
	memory, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(objects...))
	if err != nil {
		log.Fatal(err)
	}
	return memory
}

func Example() {
	ctx := context.Background()
	memory, err := dryrun.New(dryrun.Namespaces("shop")) // or cluster.New(ctx, config)
	if err != nil {
		log.Fatal(err)
	}
	m := must(deploy.NewManager(memory, deploy.FieldManager("greeter")))

	show := func(results deploy.Results, err error) {
		for _, result := range results {
			fmt.Println(result.Ref, result.Action)
		}
		if err != nil {
			fmt.Println(err)
		}
	}
	objects := []*unstructured.Unstructured{newConfigMap("web", "hello"), newConfigMap("db", "hello")}
	show(m.Apply(ctx, objects))
	show(m.Apply(ctx, objects)) // nothing to do: no call at all

	// Somebody changes a value: it is reverted, and only that object is written.
	web := deploy.RefOf(objects[0])
	edit := deploy.PatchRequest{Type: types.MergePatchType, Body: []byte(`{"data":{"greeting":"go away"}}`), FieldManager: "kubectl"}
	if _, err := memory.Port().Patch(ctx, web, edit); err != nil {
		log.Fatal(err)
	}
	show(m.Apply(ctx, objects))
	show(m.Delete(ctx, objects[1:]))
	// Output:
	// ConfigMap shop/web created
	// ConfigMap shop/db created
	// ConfigMap shop/web unchanged
	// ConfigMap shop/db unchanged
	// ConfigMap shop/web configured
	// ConfigMap shop/db unchanged
	// ConfigMap shop/db deleted
}

func ExampleManager_Apply() {
	m := must(deploy.NewManager(newMemory(newConfigMap("theirs", "hello")), deploy.OwnedBy(newOwner("cart"))))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{
		newConfigMap("ours", "hello"), newConfigMap("theirs", "hello"),
	})
	for _, result := range results {
		fmt.Println(result.Ref, result.Action, result.Changed())
	}
	var owned *deploy.OwnedError
	fmt.Println(errors.As(err, &owned))
	fmt.Println(err)
	// Output:
	// ConfigMap shop/ours created true
	// ConfigMap shop/theirs conflict false
	// true
	// ConfigMap shop/theirs: exists already and was not created for this owner: delete it, rename our object, or allow its adoption by the option deploy.Adopt
}

func ExampleManager_Delete() {
	held := newConfigMap("held", "hello")
	held.SetFinalizers([]string{"example.com/backup"})
	m := must(deploy.NewManager(newMemory(held, newConfigMap("free", "hello")), deploy.EvenForeign()))
	objects := []*unstructured.Unstructured{held, newConfigMap("free", ""), newConfigMap("absent", "")}
	results, err := m.Delete(context.Background(), objects)
	if err != nil {
		log.Fatal(err)
	}
	for _, result := range results {
		fmt.Println(result.Ref, result.Action)
	}
	remaining, err := m.Gone(context.Background(), objects)
	fmt.Println("waiting for", remaining, err)
	// Output:
	// ConfigMap shop/held deleted
	// ConfigMap shop/free deleted
	// ConfigMap shop/absent skipped
	// waiting for [ConfigMap shop/held] <nil>
}

func ExampleManager_Gone() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "hello")), deploy.EvenForeign()))
	remaining, err := m.Gone(context.Background(), []*unstructured.Unstructured{newConfigMap("web", ""), newConfigMap("db", "")})
	fmt.Println(remaining, err)
	// Output: [ConfigMap shop/web] <nil>
}

func ExampleManager_Locate() {
	m := must(deploy.NewManager(newMemory(), deploy.OwnedBy(newOwner("cart"))))
	obj := newConfigMap("web", "hello")
	obj.SetNamespace("")
	fmt.Println(m.Locate(context.Background(), obj))
	// Output: ConfigMap shop/web <nil>
}

func ExampleManager_Change() {
	m := must(deploy.NewManager(newMemory(newOwner("cart"))))
	take := func(who string) {
		holder := ""
		result, err := m.Change(context.Background(), deploy.RefOf(newOwner("cart")), func(current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			if holder = current.GetAnnotations()["example.com/holder"]; holder != "" {
				return nil, nil // leave it to its holder
			}
			holder = who
			changed := current.DeepCopy()
			changed.SetAnnotations(map[string]string{"example.com/holder": who})
			return changed, nil
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Action, holder)
	}
	take("a")
	take("b")
	// Output:
	// configured a
	// unchanged a
}

func ExampleManager_SetStatus() {
	cart := newOwner("cart")
	m := must(deploy.NewManager(newMemory(cart)))
	// It may be called again with the latest object when somebody else writes meanwhile.
	ready := func(current *unstructured.Unstructured) (map[string]any, error) {
		status, _, err := unstructured.NestedMap(current.Object, "status")
		if err != nil {
			return nil, err
		}
		if status == nil {
			status = map[string]any{}
		}
		status["ready"] = true
		return status, nil
	}
	for range 2 {
		result, err := m.SetStatus(context.Background(), deploy.RefOf(cart), ready)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Action, result.Object.Object["status"])
	}
	// Output:
	// configured map[ready:true]
	// unchanged map[ready:true]
}

func ExampleManager_ApplyStatus() {
	ctx, cart := context.Background(), newOwner("cart")
	memory := newMemory(cart)
	for _, name := range []string{"payment", "shipping", "payment"} {
		m := must(deploy.NewManager(memory, deploy.FieldManager(name)))
		result, err := m.ApplyStatus(ctx, deploy.RefOf(cart), func(*unstructured.Unstructured) (map[string]any, error) {
			return map[string]any{name: "ready"}, nil
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Action, result.Calls, result.Object.Object["status"])
	}
	// Output:
	// configured 1 map[payment:ready]
	// configured 1 map[payment:ready shipping:ready]
	// unchanged 0 map[payment:ready shipping:ready]
}

func ExampleManager_AddFinalizer() {
	ctx := context.Background()
	memory := newMemory(newOwner("cart"))
	m := must(deploy.NewManager(memory))
	cart := memory.Objects()[0]
	if err := m.AddFinalizer(ctx, cart, "shop.example.com/cart"); err != nil {
		log.Fatal(err)
	}
	fmt.Println(memory.Objects()[0].GetFinalizers())

	// The first object isn't the current state any more.
	err := m.AddFinalizer(ctx, cart, "shop.example.com/other")
	var stale *deploy.StaleError
	fmt.Println(errors.As(err, &stale))
	// Output:
	// [shop.example.com/cart]
	// true
}

func ExampleManager_RemoveFinalizer() {
	cart := newOwner("cart")
	cart.SetFinalizers([]string{"shop.example.com/cart", "example.com/other"})
	memory := newMemory(cart)
	err := must(deploy.NewManager(memory)).RemoveFinalizer(context.Background(), memory.Objects()[0], "shop.example.com/cart")
	fmt.Println(memory.Objects()[0].GetFinalizers(), err)
	// Output: [example.com/other] <nil>
}

func ExampleManager_With() {
	m := must(deploy.NewManager(newMemory(), deploy.FieldManager("greeter")))
	mine := must(m.With(deploy.OwnedBy(newOwner("cart"))))
	results, err := mine.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(mine.FieldManager(), results[0].Object.GetOwnerReferences()[0].Name)
	// Output: greeter cart
}

func ExampleNewManager() {
	m, err := deploy.NewManager(newMemory())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.FieldManager(), m.KeyDomain())
	_, err = deploy.NewManager(newMemory(), deploy.KeyDomain("not a domain"))
	fmt.Println(err != nil)
	// Output:
	// operkit operkit.dev
	// true
}

func ExampleFieldManager() {
	m := must(deploy.NewManager(newMemory(), deploy.FieldManager("greeter"), deploy.KeyDomain("example.com")))
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(results[0].Object.GetManagedFields()[0].Manager)
	for key := range results[0].Object.GetAnnotations() {
		fmt.Println(key)
	}
	// Output:
	// greeter
	// example.com/applied-greeter
}

func ExampleKeyDomain() {
	m := must(deploy.NewManager(newMemory(), deploy.KeyDomain("oper8.org")))
	fmt.Println(m.KeyDomain())
	// Output: oper8.org
}

func ExampleOwnedBy() {
	m := must(deploy.NewManager(newMemory()))
	obj := newConfigMap("web", "hello")
	obj.SetNamespace("") // the owner's
	results, err := m.Apply(context.Background(), []*unstructured.Unstructured{obj}, deploy.OwnedBy(newOwner("cart")))
	if err != nil {
		log.Fatal(err)
	}
	owner := results[0].Object.GetOwnerReferences()[0]
	fmt.Println(results[0].Ref, "belongs to", owner.Kind, owner.Name)
	// Output: ConfigMap shop/web belongs to Cart cart
}

func ExampleAdopt() {
	m := must(deploy.NewManager(newMemory(newConfigMap("web", "old")), deploy.OwnedBy(newOwner("cart"))))
	objects := []*unstructured.Unstructured{newConfigMap("web", "new")}
	for _, policy := range []deploy.Adoption{deploy.RefuseAdoption, deploy.AdoptUnowned} {
		results, _ := m.Apply(context.Background(), objects, deploy.Adopt(policy))
		fmt.Println(results[0].Action)
	}
	// Output:
	// conflict
	// configured
}

func ExampleDryRun() {
	memory := newMemory()
	results, err := must(deploy.NewManager(memory)).Apply(context.Background(),
		[]*unstructured.Unstructured{newConfigMap("web", "hello")}, deploy.DryRun())
	fmt.Println(results[0].Action, err)
	fmt.Println(len(memory.Objects()))
	// Output:
	// created <nil>
	// 0
}

func ExampleStopOnFailure() {
	objects := []*unstructured.Unstructured{newConfigMap("a", ""), newConfigMap("", ""), newConfigMap("c", "")}
	results, err := must(deploy.NewManager(newMemory())).Apply(context.Background(), objects, deploy.StopOnFailure())
	fmt.Println(len(results), results[0].Action, results[1].Action)
	fmt.Println(err)
	// Output:
	// 2 created failed
	// ConfigMap without name: invalid manifest: metadata.name is missing
}

func ExampleRefOf() {
	fmt.Println(deploy.RefOf(newConfigMap("web", "hello")))
	// Output: ConfigMap shop/web
}

func ExampleResults_Err() {
	results := deploy.Results{{Err: &deploy.NotFoundError{Ref: deploy.RefOf(newConfigMap("web", ""))}}, {}}
	fmt.Println(results.Err())
	// Output: ConfigMap shop/web: not found
}

func ExampleManagerOf() {
	fmt.Println(deploy.ManagerOf(`conflict with "hpa" with subresource "scale" using apps/v1`))
	// Output: hpa
}
