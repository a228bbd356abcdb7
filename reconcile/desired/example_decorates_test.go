package desired_test

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/desired"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var deployments = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}

// notes adds a ConfigMap to each Deployment that asks for it.
type notes struct{}

// Selects implements desired.Selector.
func (notes) Selects(parent *desired.Unstructured) bool {
	return parent.GetAnnotations()["example.dev/note"] != ""
}

func (notes) Sync(r desired.Request[desired.Unstructured]) (desired.Response, error) {
	has := "true"
	return desired.Response{
		Children: []any{map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": r.Parent.GetName()},
			"data": map[string]any{"note": r.Parent.GetAnnotations()["example.dev/note"]},
		}},
		Labels: map[string]*string{"example.dev/has-note": &has},
	}, nil
}

// A Syncer that adds to objects which have a controller of their own.
func ExampleSelector() {
	controller := desired.New(deployments, notes{},
		desired.Child(configMaps, desired.InPlace), desired.Decorates(), desired.When(filter.Or(filter.Lifecycle(), filter.Annotations())))
	h := reconciletest.Drive(console{}, controller)
	h.Apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, annotations: {example.dev/note: hello}}}")
	h.Apply("{apiVersion: apps/v1, kind: Deployment, metadata: {name: mail}}")
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		if call.Write() {
			fmt.Println(call)
		}
	}
	fmt.Println(h.Get("Deployment web").GetLabels())
	// Output:
	// created ConfigMap test/web
	// configured Deployment test/web
	// map[example.dev/has-note:true]
}
