package reconciletest_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile/admission"
	"github.com/operkit/operkit/reconcile/event"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/source"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	gears      = schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Gear"}
	configMaps = schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}
)

const gear = `
apiVersion: example.dev/v1
kind: Gear
metadata: {name: small}
spec: {teeth: 12}`

// gearing is a reconciler without sessions: it writes the teeth of each gear into a ConfigMap.
type gearing struct{ env watch.Env }

// gearController is passed to reconciletest.Drive in tests, and to operator.Operator.Drive in main.
var gearController = watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
	return gearing{env}, nil
})

// Sources implements source.Provider.
func (gearing) Sources() source.Sources {
	return source.Sources{Owned: []source.Owned{{Kind: configMaps}}}
}

// Reconcile implements watch.Reconciler.
func (g gearing) Reconcile(ctx context.Context, req request.Request) (request.Result, error) {
	gear, err := g.env.Manager.View().Get(ctx, req.Key)
	if err != nil || gear == nil {
		return request.Result{}, err
	}
	teeth, _, _ := unstructured.NestedFieldNoCopy(gear.Object, "spec", "teeth")
	plan := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"teeth": fmt.Sprint(teeth)}}}
	plan.SetGroupVersionKind(configMaps)
	plan.SetNamespace(req.Key.Namespace)
	plan.SetName(req.Key.Name)
	_, err = g.env.Manager.Apply(ctx, []*unstructured.Unstructured{plan}, deploy.OwnedBy(gear))
	if g.env.Events != nil && err == nil {
		g.env.Events.Record(event.Event{Regarding: event.Of(gear), Reason: "Planned", Note: "its plan is up to date"})
	}
	return request.Result{}, err
}

func TestGears(t *testing.T) {
	h := reconciletest.Drive(t, gearController)
	h.Apply(gear)
	h.RunUntilSettled()
	h.Created("ConfigMap small")

	h.Delete("ConfigMap small")
	h.RunUntilSettled()
	h.Created("ConfigMap small")

	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
}

// ordering is a gearing that also reconciles the gears that somebody orders.
type ordering struct {
	gearing
	orders <-chan deploy.Ref
}

// Sources implements source.Provider.
func (o ordering) Sources() source.Sources {
	sources := o.gearing.Sources()
	sources.External = []source.External{source.Channel(o.orders)}
	return sources
}

func newOrdering(orders <-chan deploy.Ref) watch.Controller {
	return watch.NewController(gears, func(_ context.Context, env watch.Env) (watch.Reconciler, error) {
		return ordering{gearing{env}, orders}, nil
	})
}

func TestOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		orders := make(chan deploy.Ref)
		h := reconciletest.Drive(t, newOrdering(orders))
		h.Apply(gear)
		h.RunUntilSettled()
		before := len(h.Runs())
		orders <- deploy.Ref{Namespace: "test", Name: "small"}
		h.RunUntilSettled()
		if h.Runs()[before].Triggers != request.External {
			t.Error("an order doesn't bring its gear to reconcile")
		}
	})
}

func ExampleDrive() {
	var t console // in a test: its *testing.T
	h := reconciletest.Drive(t, gearController)
	h.Apply(gear)
	h.RunUntilSettled()
	printed(h.Calls())
	h.Edit("ConfigMap small", func(plan *unstructured.Unstructured) { plan.Object["data"] = map[string]any{"teeth": "many"} })
	h.RunUntilSettled()
	printed(h.Calls())
	fmt.Println(h.Runs()[len(h.Runs())-1].Triggers)
	// Output:
	//   created ConfigMap test/small
	//   configured ConfigMap test/small
	// child
}

func TestGearsAdmission(t *testing.T) {
	t.Run("harness 11: a mutator changes what a reconciler of another style applies, which stays settled", func(t *testing.T) {
		hooks := admission.New[unstructured.Unstructured](configMaps)
		hooks.Mutate("paint", func(_ context.Context, r *admission.Request[unstructured.Unstructured]) error {
			r.Object.SetLabels(map[string]string{"colour": "green"})
			return nil
		})
		h := reconciletest.Drive(t, gearController, reconciletest.Admission(hooks))
		h.Apply(gear)
		h.RunUntilSettled()
		if colour := h.Get("ConfigMap small").GetLabels()["colour"]; colour != "green" {
			t.Errorf("colour %q", colour)
		}
		h.Restart()
		h.RunUntilSettled()
		h.Writes(0)
	})
}

// A gear with too few teeth is refused, as by an API server that asks the webhook.
func ExampleAdmission() {
	hooks := admission.New[unstructured.Unstructured](gears)
	hooks.Validate("teeth", func(_ context.Context, r *admission.Request[unstructured.Unstructured]) error {
		if teeth, _, _ := unstructured.NestedInt64(r.Object.Object, "spec", "teeth"); teeth < 5 {
			return field.Invalid(field.NewPath("spec", "teeth"), teeth, "a gear has at least 5")
		}
		r.Warn("gears are going out of fashion")
		return nil
	})
	h := reconciletest.Drive(console{}, gearController, reconciletest.Admission(hooks))
	h.Apply(gear)
	fmt.Println(h.Warnings())
	fmt.Println(h.TryEdit("Gear small", func(gear *unstructured.Unstructured) { gear.Object["spec"] = map[string]any{"teeth": int64(3)} }))
	fmt.Println(h.TryApply("{apiVersion: example.dev/v1, kind: Gear, metadata: {name: smallest}}") != nil, h.TryDelete("Gear small"))
	// Output:
	// [gears are going out of fashion]
	// Gear test/small: refused: admission webhook "validate.gear.example.dev" denied the request: Gear.example.dev "small" is invalid: spec.teeth: Invalid value: 3: a gear has at least 5
	// true <nil>
}

func ExampleAlsoDrive() {
	h := reconciletest.New(console{}, Shop{}, reconciletest.AlsoDrive(gearController))
	h.Apply(shop, gear)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	printed(h.Calls()[:2])
	// Output:
	//   created ConfigMap test/small
	//   created Deployment test/tea-store
}

func ExampleEvents() {
	sink := event.Func(func(e event.Event) { fmt.Println(e.Regarding, e.Reason) })
	h := reconciletest.Drive(console{}, gearController, reconciletest.Events(sink))
	h.Apply(gear)
	if _, err := h.Reconcile("Gear small"); err != nil {
		fmt.Println(err)
	}
	// Output: Gear test/small Planned
}

func ExampleHarness_Leave() {
	h := reconciletest.Drive(console{}, gearController)
	h.Apply(gear)
	h.RunUntilSettled()
	h.Leave("Gear small")
	h.Delete("ConfigMap small")
	h.RunUntilSettled()
	fmt.Println("calls:", len(h.Calls()))
	h.Enter("Gear small")
	h.RunUntilSettled()
	printed(h.Calls())
	// Output:
	// calls: 0
	//   created ConfigMap test/small
}

// The first request of a reconciler, here the apply of the plan, fails: it is tried again.
func ExampleHarness_FailRequest() {
	h := reconciletest.Drive(console{}, gearController)
	h.Apply(gear)
	h.FailRequest(1, dryrun.Fault{Code: 500})
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		fmt.Println(call.Action, call.Ref)
	}
	// Output:
	// failed ConfigMap test/small
	// created ConfigMap test/small
}

// Somebody deletes the resource in the middle of its first reconcile.
func ExampleHarness_BeforeRequest() {
	h := reconciletest.Drive(console{}, gearController)
	h.Apply(gear)
	h.BeforeRequest(1, func() { h.Delete("Gear small") })
	h.RunUntilSettled()
	h.Gone("Gear small", "ConfigMap small")
	// Output:
}

// The operator's watch of ConfigMaps falls behind, so that it sees a deletion late.
func ExampleHarness_Stall() {
	h := reconciletest.Drive(console{}, gearController)
	h.Apply(gear)
	h.RunUntilSettled()
	h.Stall("ConfigMap")
	h.Delete("ConfigMap small")
	h.RunUntilSettled()
	fmt.Println("calls:", len(h.Calls()))
	h.CatchUp()
	h.RunUntilSettled()
	printed(h.Calls())
	// Output:
	// calls: 0
	//   created ConfigMap test/small
}

// A replica loses its lease while its write is on its way. It arrives after the same write of the next replica.
func ExampleHarness_Depose() {
	h := reconciletest.Drive(console{}, gearController)
	h.Apply(gear)
	h.Depose(1)
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		fmt.Println(call.Action, call.Ref)
	}
	// Output:
	// failed ConfigMap test/small
	// created ConfigMap test/small
}

// With Renew each process has a controller of its own.
func ExampleRenew() {
	processes := 1
	h := reconciletest.Drive(console{}, gearController, reconciletest.Renew(func() watch.Controller {
		processes++
		return gearController
	}))
	h.Apply(gear)
	h.RunUntilSettled()
	h.Restart()
	fmt.Println(processes, "processes")
	// Output: 2 processes
}
