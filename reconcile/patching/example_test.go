package patching_test

import (
	"context"
	"fmt"
	"maps"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/patching"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sale is a Patcher with one patch, which lowers the price of each lamp.
type sale struct{}

func (sale) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return []patching.Patch{sale{}}, nil
}

func (sale) Name() string { return "sale" }

func (sale) Apply(_ context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	if component != "goods" || object != "lamp/hall" {
		return nil, false, nil
	}
	content = maps.Clone(content)
	content["price"] = 7
	return content, true, nil
}

func named(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"kind": kind, "metadata": map[string]any{"name": name}, "price": 10}}
}

func ExampleObjects() {
	target := patching.Target{Resource: named("Shop", "tea")}
	objects, err := patching.Objects(context.Background(), sale{}, target, "goods", []*unstructured.Unstructured{named("Lamp", "hall"), named("Cup", "blue")})
	for _, obj := range objects {
		fmt.Println(patching.ObjectName(deploy.RefOf(obj), ""), obj.Object["price"])
	}
	fmt.Println(err)
	// Output:
	// lamp/hall 7
	// cup/blue 10
	// <nil>
}

func ExampleFind() {
	patches, err := patching.Find(context.Background(), sale{}, patching.Target{Resource: named("Shop", "tea")})
	if err != nil {
		fmt.Println(err)
	}
	for _, patch := range patches {
		fmt.Println(patch.Name())
	}
	content, err := patching.Apply(context.Background(), patches, "goods", "lamp/hall", map[string]any{"price": 10})
	fmt.Println(content["price"], err)
	// Output:
	// sale
	// 7 <nil>
}

func ExampleObjectName() {
	fmt.Println(patching.ObjectName(deploy.RefOf(named("Lamp", "hall")), "market"))
	// Output: lamp/hall
}

func ExampleApply() {
	content, err := patching.Apply(context.Background(), []patching.Patch{sale{}}, "goods", "cup/blue", map[string]any{"price": 10})
	fmt.Println(content["price"], err)
	// Output: 10 <nil>
}
