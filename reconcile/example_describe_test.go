package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// versionedShop is what the market's shop is, with a version that it was brought to and one that it wants.
func versionedShop(from, to string) *unstructured.Unstructured {
	obj := shop()
	obj.Object["spec"] = map[string]any{"version": to}
	obj.Object["status"] = map[string]any{"versions": map[string]any{"reconciled": from}}
	return obj
}

func quietReconciler(c reconcile.Controller, options ...reconcile.Option) *reconcile.Reconciler {
	options = append(options, reconcile.Logger(slog.New(slog.DiscardHandler)))
	r, err := reconcile.New(c, must(deploy.NewManager(emptyCluster())), options...)
	if err != nil {
		fmt.Println(err)
	}
	return r
}

// What a controller says of a resource, for somebody else to deploy.
func ExampleReconciler_Describe() {
	r := quietReconciler(setup(func(_ context.Context, s *reconcile.Session) error {
		front := s.Add("front", configMap("door"), configMap("window"))
		s.Add("back", configMap("yard")).After(front, reconcile.Ready)
		return nil
	}))
	ctx := context.Background()
	description, err := r.Describe(ctx, shop(), reconcile.Describing{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer description.Release()
	for _, component := range description.Session().Components() {
		objects, err := description.Render(ctx, component)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, object := range objects {
			fmt.Println(component.Name(), object.Object.Name(), object.Content.GetName())
		}
		for _, dependency := range description.Dependencies(component) {
			fmt.Println(component.Name(), "waits for", dependency.Upstream.Name())
		}
	}
	// Output:
	// front configmap/door door
	// front configmap/window window
	// back configmap/yard yard
	// back waits for front
}

// The error is what a reconcile would have come to.
func ExampleDescription() {
	r := quietReconciler(setup(func(_ context.Context, s *reconcile.Session) error {
		return request.Configuration("spec.sign: %q is too short", "")
	}))
	description, err := r.Describe(context.Background(), shop(), reconcile.Describing{ID: "a1", Version: "1.1.0", DryRun: true})
	defer description.Release()
	session := description.Session()
	fmt.Println(session.ID(), session.Version(), session.DryRun())
	fmt.Println(err)
	// Output:
	// a1 1.1.0 true
	// setup: spec.sign: "" is too short
}

// An object that is dear to render is rendered when the cluster may have to be changed.
func ExampleDeferred() {
	cluster := emptyCluster()
	c := setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door", reconcile.Deferred{
			Ref:    deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, Name: "door"},
			Digest: "as of 1.0.0",
			Content: func(context.Context) (*unstructured.Unstructured, error) {
				fmt.Println("rendered")
				return configMap("door"), nil
			},
		})
		return nil
	})
	r, err := reconcile.New(c, must(deploy.NewManager(cluster)), reconcile.Logger(slog.New(slog.DiscardHandler)))
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 3 {
		if _, err := r.Reconcile(context.Background(), teaRequest); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(len(cluster.Objects()), "objects")
	// Output:
	// rendered
	// 2 objects
}

// Patches don't touch what somebody else has rendered.
func ExampleFinished() {
	cluster := emptyCluster()
	sign := func() *unstructured.Unstructured {
		obj := configMap("sign")
		obj.Object["data"] = map[string]any{"sign": "open"}
		return obj
	}
	reconcileAgain(cluster, setup(func(_ context.Context, s *reconcile.Session) error {
		s.Add("door").Add("sign", sign(), reconcile.Finished())
		return nil
	}), reconcile.WithPatches(sale{}))
	printData(cluster)
	// Output: map[sign:open]
}

func printData(cluster *dryrun.Cluster) {
	for _, obj := range cluster.Objects() {
		if data, ok := obj.Object["data"]; ok {
			fmt.Println(data)
		}
	}
}

// market is a controller that lets its shops skip no version.
type market struct{ setup }

// Upgrade implements reconcile.Upgrader.
func (market) Upgrade(_ context.Context, _ *reconcile.Session, from, to string) error {
	if from == "1.0.0" && to == "3.0.0" {
		return request.Configuration("go by 2.0.0")
	}
	return nil
}

func ExampleUpgrader() {
	r := quietReconciler(market{func(context.Context, *reconcile.Session) error { return nil }})
	for _, to := range []string{"3.0.0", "2.0.0"} {
		_, err := r.Plan(context.Background(), versionedShop("1.0.0", to))
		fmt.Println(to, err)
	}
	// Output:
	// 3.0.0 upgrade from 1.0.0 to 3.0.0: go by 2.0.0
	// 2.0.0 <nil>
}

func ExampleSession_Cleanup() {
	reconcileOnce(setup(func(_ context.Context, s *reconcile.Session) error {
		s.Cleanup(func() { fmt.Println("cleaned up:", s.Name()) })
		return errors.New("no tea")
	}))
	// Output:
	// cleaned up: tea
	// failed: setup: no tea
}

// printed is a StatusSink that prints what it gets.
type printed struct{}

func (printed) SetStatus(path string, value any)      { fmt.Println(path, "is", value) }
func (printed) SetCondition(c metav1.Condition)       { fmt.Println(c.Type, "is", c.Status) }
func (printed) FlushConditions(context.Context) error { return nil }

// What a controller sets in the status, for somebody else to write.
func ExampleStatusSink() {
	r := quietReconciler(archive{func(_ context.Context, s *reconcile.Session) error {
		s.SetStatus("shelves", 3)
		s.Conditions().Result("BackedUp", nil)
		return nil
	}})
	description, err := r.Describe(context.Background(), shop(), reconcile.Describing{Status: printed{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	description.Release()
	// Output:
	// shelves is 3
	// BackedUp is True
}
