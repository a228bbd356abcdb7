package reconcile_test

import (
	"context"
	"fmt"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var kettleKind = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Kettle"}

// kettles says what it thinks of its resources.
type kettles struct{}

func (kettles) Kind() schema.GroupVersionKind { return kettleKind }

func (kettles) Setup(_ context.Context, s *reconcile.Session) error {
	s.Event(event.Warning, "Scaly", "kettle %s wants vinegar", s.Name())
	s.Add("water", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}})
	return nil
}

func printEvent(e event.Event) { fmt.Println(e.Type, e.Reason, "-", e.Note) }

func reconcileKettle(options ...reconcile.Option) {
	kettle := &unstructured.Unstructured{Object: map[string]any{}}
	kettle.SetGroupVersionKind(kettleKind)
	kettle.SetNamespace("kitchen")
	kettle.SetName("red")
	cluster, err := dryrun.New(dryrun.AnyKind(), dryrun.Objects(kettle))
	if err != nil {
		fmt.Println(err)
		return
	}
	reconciler, err := reconcile.New(kettles{}, must(deploy.NewManager(cluster)), options...)
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := reconciler.Reconcile(context.Background(), request.Request{Key: deploy.Ref{Kind: kettleKind, Namespace: "kitchen", Name: "red"}}); err != nil {
		fmt.Println(err)
	}
}

func ExampleEvents() {
	// In a cluster: reconcile.Events(event.NewRecorder(port, "kettle-operator", pod, logger)).
	reconcileKettle(reconcile.Events(event.Warnings(event.Func(printEvent))))
	// Output: Warning Scaly - kettle red wants vinegar
}

func ExampleSession_Event() {
	reconcileKettle(reconcile.Events(event.Func(printEvent)))
	// Output:
	// Warning Scaly - kettle red wants vinegar
	// Normal Created - component water: created ConfigMap red
	// Normal Ready - all components are ready: 1
}

func ExampleAroundComponents() {
	told := func(ctx context.Context, c *reconcile.Component, step reconcile.Step, do func(ctx context.Context) error) error {
		err := do(ctx)
		fmt.Println(step, c.Name(), err)
		return err
	}
	reconcileKettle(reconcile.AroundComponents(told))
	// Output:
	// deploy water <nil>
	// verify water <nil>
}
