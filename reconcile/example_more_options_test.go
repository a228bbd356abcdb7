package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/patching"
	"github.com/operkit/operkit/status"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// sale is a patch, and knows that every resource has it.
type sale struct{}

func (sale) Patches(context.Context, patching.Target) ([]patching.Patch, error) {
	return []patching.Patch{sale{}}, nil
}

func (sale) Name() string { return "sale" }

func (sale) Apply(_ context.Context, component, object string, content map[string]any) (map[string]any, bool, error) {
	if component != "door" || object != "sign" {
		return nil, false, nil
	}
	patched := (&unstructured.Unstructured{Object: content}).DeepCopy()
	return patched.Object, true, unstructured.SetNestedField(patched.Object, "everything must go", "data", "sign")
}

func ExampleStatus() {
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(shop()))
	if err != nil {
		fmt.Println(err)
		return
	}
	calls := cluster.Record()
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	}), reconcile.Status(reconcile.NoStatus))
	for _, call := range calls.Calls() {
		fmt.Println(call)
	}
	// Output: apply ConfigMap market/door
}

func ExampleStatus_onlyReady() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	}), reconcile.Status(reconcile.OnlyReady))
	for _, obj := range cluster.Objects() {
		content, _ := obj.Object["status"].(map[string]any)
		conditions, _ := content["conditions"].([]any)
		for _, condition := range conditions {
			fmt.Println(len(content), condition.(map[string]any)["type"], condition.(map[string]any)["status"])
		}
	}
	// Output: 1 Ready True
}

func ExampleWithPatches() {
	cluster := emptyCluster()
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door").Add("sign", configMap("sign"))
		return nil
	}), reconcile.WithPatches(sale{}), reconcile.StartAfter(0))
	for _, obj := range cluster.Objects() {
		if obj.GetKind() == "ConfigMap" {
			fmt.Println(obj.Object["data"])
		}
	}
	// Output: map[sign:everything must go]
}

func ExampleMaxAttempts() {
	reconcileAgain(emptyCluster(), setup(func(context.Context, *reconcile.Session) error {
		return errors.New("the roof leaks")
	}), reconcile.MaxAttempts(1))
	// Output: failed: given up after 1 attempts: setup: the roof leaks
}

func ExampleSupportedVersions() {
	for _, version := range []string{"1", "9"} {
		reconcileAgain(emptyCluster(), setup(func(_ context.Context, s *reconcile.Session) error {
			fmt.Println("version", s.Version())
			return nil
		}), reconcile.VersionOverride(version), reconcile.SupportedVersions("1", "2"), reconcile.StrictVersions())
	}
	// Output:
	// version 1
	// failed: Shop market/tea: version "9" isn't supported: choose one of 1, 2
}

func ExampleReconciler_Plan() {
	cluster := emptyCluster()
	doors := func(colour string) reconcile.Controller {
		return setup(func(_ context.Context, s *reconcile.Session) error {
			door := configMap("door")
			door.Object["data"] = map[string]any{"colour": colour}
			s.Add("front", door)
			return nil
		})
	}
	reconcileAgain(cluster, doors("red"))
	// A new release paints them green.
	reconciler, err := reconcile.New(doors("green"), must(deploy.NewManager(cluster)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, obj := range cluster.Objects() {
		if obj.GroupVersionKind() != reconciler.Kind() {
			continue
		}
		plan, err := reconciler.Plan(context.Background(), obj, reconcile.OpenGates())
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, c := range plan.Components {
			fmt.Println(c.Component.Name(), c.Differences[0].Action, c.Differences[0].Changes[0])
		}
	}
	// Output: front configured .data.colour: "red" -> "green"
}

func ExampleReconciler_Graph() {
	cluster := emptyCluster()
	reconciler, err := reconcile.New(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door").After(s.Add("wall"))
		return nil
	}), must(deploy.NewManager(cluster)))
	if err != nil {
		fmt.Println(err)
		return
	}
	graph, err := reconciler.Graph(context.Background(), cluster.Objects()[0])
	fmt.Println(graph, err)
	// Output: Graph({door:[wall],wall:[]}) <nil>
}

func ExampleReadyBy() {
	cluster := emptyCluster()
	lit := func(_ time.Time, object map[string]any) readiness.Result {
		return readiness.Result{State: readiness.InProgress, Message: "it is dark"}
	}
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", configMap("door"))
		return nil
	}), reconcile.Status(reconcile.OnlyReady), reconcile.ReadyBy(readiness.Checker{Registry: readiness.Registry{{Kind: "ConfigMap"}: {Func: lit}}}))
	for _, obj := range cluster.Objects() {
		if ready, ok := status.Conditions(obj).Get(status.ConditionReady); ok {
			fmt.Println(ready.Status, ready.Message)
		}
	}
	// Output: False door: ConfigMap door: InProgress (it is dark)
}

// The web server shows the sign of a ConfigMap that somebody else keeps, and is changed with it.
func ExampleReviseObjects() {
	cluster := emptyCluster()
	signed := func(ctx context.Context, c *reconcile.Component, obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		kind := schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
		sign, err := c.Input(ctx, deploy.Ref{Kind: kind, Namespace: c.Session().Namespace(), Name: "sign"})
		if err != nil {
			return nil, err
		}
		revised := obj.DeepCopy()
		revised.SetAnnotations(map[string]string{"sign": "closed"})
		if sign != nil {
			revised.SetAnnotations(map[string]string{"sign": "open"})
		}
		return revised, nil
	}
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("web", configMap("web"))
		return nil
	}), reconcile.ReviseObjects(signed))
	for _, obj := range cluster.Objects() {
		if obj.GetName() == "web" {
			fmt.Println(obj.GetAnnotations()["sign"])
		}
	}
	// Output: closed
}
