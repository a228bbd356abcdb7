package deploy_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"slices"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// The Port sends requests for which a Manager has no method.
func ExampleManager_Port() {
	ctx := context.Background()
	port := must(deploy.NewManager(newMemory())).Port()

	scope, err := port.Scope(ctx, schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	fmt.Println(scope == deploy.Namespaced, err)

	made, err := port.Create(ctx, newConfigMap("web", "hello"), deploy.CreateOptions{FieldManager: "example"})
	fmt.Println(made.GetName(), err)
	_, err = port.Create(ctx, newConfigMap("web", "hello"), deploy.CreateOptions{FieldManager: "example"})
	var exists *deploy.AlreadyExistsError
	fmt.Println(errors.As(err, &exists))

	made.SetLabels(map[string]string{"app": "web"})
	_, err = port.Update(ctx, made, deploy.UpdateOptions{FieldManager: "example"})
	fmt.Println(err)
	found, err := port.List(ctx, made.GroupVersionKind(), "shop", deploy.ListOptions{Labels: labels.SelectorFromSet(labels.Set{"app": "web"})})
	fmt.Println(len(found), err)

	applied, err := port.Apply(ctx, newConfigMap("db", "hello"), deploy.ApplyOptions{FieldManager: "example", DryRun: true})
	fmt.Println(applied.Created, err)

	err = port.Delete(ctx, deploy.RefOf(made), deploy.DeleteOptions{UID: "another one"})
	var stale *deploy.StaleError
	fmt.Println(errors.As(err, &stale))
	// Output:
	// true <nil>
	// web <nil>
	// true
	// <nil>
	// 1 <nil>
	// true <nil>
	// true
}

// watched is a cluster with another View.
type watched struct {
	deploy.Cluster
	view deploy.View
}

func (w watched) View() deploy.View { return w.view }

// indexed is a View that finds objects by their owners. A Manager uses that instead of reading all objects.
type indexed struct{ deploy.View }

func (v indexed) Owned(ctx context.Context, kind schema.GroupVersionKind, namespace string, owner types.UID) ([]*unstructured.Unstructured, error) {
	fmt.Println("asked for those of", owner)
	return v.List(ctx, kind, namespace, nil)
}

func ExampleOwnedView() {
	ctx := context.Background()
	memory := newMemory()
	var view deploy.OwnedView = indexed{memory.View()}
	m := must(deploy.NewManager(watched{memory, view}, deploy.OwnedBy(newOwner("cart"))))
	if _, err := m.Apply(ctx, []*unstructured.Unstructured{newConfigMap("web", "")}); err != nil {
		log.Fatal(err)
	}
	owned, err := m.Owned(ctx, []schema.GroupVersionKind{{Version: "v1", Kind: "ConfigMap"}}, nil)
	fmt.Println(len(owned), err)
	// Output:
	// asked for those of uid-of-cart
	// 1 <nil>
}

// glancing is a View that holds only the metadata of objects.
type glancing struct{ deploy.View }

func (v glancing) Partial(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, bool, error) {
	obj, err := v.Get(ctx, ref)
	if obj == nil || err != nil {
		return nil, false, err
	}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": obj.GetAPIVersion(), "kind": obj.GetKind(), "metadata": obj.Object["metadata"],
	}}, false, nil
}

// Metadata is enough to see that an object is unchanged.
func ExamplePartialView() {
	memory := newMemory()
	var view deploy.PartialView = glancing{memory.View()}
	m := must(deploy.NewManager(watched{memory, view}))
	for range 2 {
		results, err := m.Apply(context.Background(), []*unstructured.Unstructured{newConfigMap("web", "hello")})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(results[0].Action, results[0].Calls)
	}
	// Output:
	// created 1
	// unchanged 0
}

const carts = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: carts.shop.example.dev}
spec:
  group: shop.example.dev
  names: {kind: Cart, plural: carts, categories: [shopping]}
  scope: Namespaced
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]`

// To wait for a kind that isn't served yet, use the View if it knows the kinds, and poll otherwise.
func ExampleKindView() {
	memory := newMemory()
	view, knows := memory.View().(deploy.KindView)
	definition := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(carts), &definition.Object); err != nil {
		log.Fatal(err)
	}
	must(memory.Port().Apply(context.Background(), definition, deploy.ApplyOptions{FieldManager: "somebody"}))
	cart := schema.GroupVersionKind{Group: "shop.example.dev", Version: "v1", Kind: "Cart"}
	fmt.Println(knows, view.Served(context.Background(), cart))

	ctx, enough := context.WithCancel(context.Background())
	view.WatchKinds(ctx, func(kinds []deploy.ServedKind) {
		for _, kind := range kinds {
			if slices.Contains(kind.Categories, "shopping") {
				fmt.Println(kind.Kind, kind.Resource, kind.Scope)
			}
		}
		enough() // before that, each change of the kinds leads to another call
	})
	// Output:
	// true <nil>
	// shop.example.dev/v1, Kind=Cart carts Namespaced
}
