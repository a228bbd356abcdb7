package reconciletest_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/dryrun"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Shop controls the shops of a market: a store, and a door that opens once the store is ready.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Shop"}
}

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	sign, _, err := unstructured.NestedString(s.Resource().Object, "spec", "sign")
	if err != nil {
		return request.Configuration("spec.sign: %w", err)
	}
	store := s.Add("store", map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": map[string]any{"name": s.ScopedName("store")},
		"spec": map[string]any{"replicas": 1},
	})
	door := s.Add("door", map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.ScopedName("door")},
		"data": map[string]any{"sign": sign},
	})
	door.After(store, reconcile.Ready)
	return nil
}

const shop = `
apiVersion: example.dev/v1
kind: Shop
metadata: {name: tea}
spec: {sign: open}`

// TestShop is what the test of an operator looks like.
func TestShop(t *testing.T) {
	h := reconciletest.New(t, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	h.Created("Deployment tea-store", "ConfigMap tea-door")
	h.Ready("Shop tea")

	h.Edit("Shop tea", func(shop *unstructured.Unstructured) {
		shop.Object["spec"] = map[string]any{"sign": "closed"}
	})
	h.FailOnce("door", reconciletest.Deploy, errors.New("jammed"))
	h.RunUntilSettled()
	h.Configured("ConfigMap tea-door")
	h.Ready("Shop tea")

	h.RunUntilSettled()
	h.Writes(0)
	h.Golden("Shop tea", "shop")
}

// console is a T that prints, for the examples: a test has its *testing.T.
type console struct{ testing.TB }

func (console) Helper()                  {}
func (console) Context() context.Context { return context.Background() }
func (console) Cleanup(func())           {}
func (console) Failed() bool             { return false }
func (console) Logf(string, ...any)      {}

func (console) Errorf(format string, args ...any) { fmt.Printf("FAIL: "+format+"\n", args...) }
func (console) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }

func printed[S fmt.Stringer](items []S) {
	for _, item := range items {
		fmt.Println(" ", item)
	}
}

func Example() {
	var t console // in a test: its *testing.T
	h := reconciletest.New(t, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	printed(h.Calls())
	h.Ready("Shop tea")
	h.RunUntilSettled()
	h.Writes(0)
	// Output:
	//   created Deployment test/tea-store
	//   configured Shop test/tea status
	//   created ConfigMap test/tea-door
	//   configured Shop test/tea status
}

// Each request is seen when it is sent, with the cluster as it is then.
func ExampleObserve() {
	var h *reconciletest.Harness
	h = reconciletest.New(console{}, Shop{}, reconciletest.Observe(func(call reconciletest.Call) {
		if call.Write() {
			fmt.Println(call, "| the door is there:", h.Get("ConfigMap tea-door") != nil)
		}
	}))
	h.Apply(shop)
	h.RunUntilSettled()
	// Output:
	// created Deployment test/tea-store | the door is there: false
	// configured Shop test/tea status | the door is there: false
	// created ConfigMap test/tea-door | the door is there: true
	// configured Shop test/tea status | the door is there: true
}

func ExampleSamples() {
	for _, sample := range reconciletest.Samples(console{}, Shop{}.Kind(), "testdata/samples") {
		h := reconciletest.New(console{}, Shop{})
		h.Apply(sample)
		h.RunUntilSettled()
		h.Ready("Shop " + sample.GetName())
		fmt.Println(h.Objects("Shop " + sample.GetName()))
	}
	// Output:
	// [ConfigMap tea-door Deployment tea-store]
}

func ExampleHarness_Hold() {
	h := reconciletest.New(console{}, Shop{})
	h.Hold("Deployment tea-store")
	h.Apply(shop)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	h.Release("Deployment tea-store")
	h.RunUntilSettled()
	h.Ready("Shop tea")
	printed(h.Calls())
	// Output:
	// FAIL: Shop tea: isn't ready: Initializing: door waits for store (its gate is closed); store: Deployment tea-store: InProgress (the controller hasn't observed the object yet); Updating: VerifyWait: door waits for store (its gate is closed); store: Deployment tea-store: InProgress (the controller hasn't observed the object yet)
	//   created ConfigMap test/tea-door
	//   configured Shop test/tea status
}

func ExampleHarness_Break() {
	h := reconciletest.New(console{}, Shop{})
	h.Break("Deployment tea-store", "no node has room")
	h.Apply(shop)
	h.RunUntilSettled()
	fmt.Println(h.Condition("Shop tea", "Ready").Reason)
	fmt.Println(strings.Contains(h.Condition("Shop tea", "Ready").Message, "no node has room"))
	// Output:
	// Errored
	// true
}

func ExampleHarness_Fail() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.Fail("store", reconciletest.Deploy, errors.New("jammed")).Times(3)
	h.RunUntilSettled()
	for _, run := range h.Runs() {
		fmt.Println(run.At.Sub(reconciletest.Started), "attempt", run.Attempt, "failed:", run.Err != nil)
	}
	h.Ready("Shop tea")
	// Output:
	// 0s attempt 0 failed: true
	// 250ms attempt 1 failed: true
	// 750ms attempt 2 failed: true
	// 1.75s attempt 3 failed: false
	// 1.75s attempt 0 failed: false
	// 1.75s attempt 0 failed: false
	// 10m1.75s attempt 0 failed: false
}

func ExampleHarness_Advance() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	before := len(h.Runs())
	h.Advance(24 * time.Hour)
	fmt.Println(len(h.Runs())-before, "reconciles in a day, calls:", len(h.Calls()))
	// Output: 144 reconciles in a day, calls: 0
}

func ExampleHarness_Memory() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	if err := h.Memory().Fail(dryrun.Fault{Verb: dryrun.VerbApply, Name: "tea-door", Count: 1, Code: 503}); err != nil {
		fmt.Println(err)
	}
	h.RunUntilSettled()
	for _, call := range h.Calls() {
		if call.Write() {
			fmt.Println(call.Action, call.Ref)
		}
	}
	// Output:
	// created Deployment test/tea-store
	// configured Shop test/tea
	// failed ConfigMap test/tea-door
	// configured Shop test/tea
	// created ConfigMap test/tea-door
	// configured Shop test/tea
}

func ExampleHarness_Render() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	for _, component := range h.Render("Shop tea") {
		for _, obj := range component.Objects {
			fmt.Println(component.Component+":", obj.GetKind(), obj.GetName())
		}
	}
	// Output:
	// door: ConfigMap tea-door
	// store: Deployment tea-store
}

// A controller that is never content fails its test, which says why.
func ExampleHarness_RunUntilSettled() {
	defer func() { fmt.Println(recover()) }()
	n := 0
	restless := reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		n++
		s.Add("clock", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "clock"}, "data": map[string]any{"tick": fmt.Sprint(n)},
		})
		return nil
	})
	h := reconciletest.New(console{}, restless, reconciletest.MaxReconciles(20))
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	h.RunUntilSettled()
	// Output:
	// reconciletest: hot loop: Tested test/it was reconciled 21 times and hasn't settled (the last ended with: again after 10m0s).
	// ConfigMap test/clock was changed 20 times; its latest changes:
	//   .data.tick: "18" -> "19"
	//   then
	//   .data.tick: "19" -> "20"
	//   then
	//   .data.tick: "20" -> "21"
}

func ExampleTemporaryPatches() {
	h := reconciletest.New(console{}, Shop{}, reconciletest.TemporaryPatches())
	sign := func() any { return h.Get("ConfigMap tea-door").Object["data"] }
	h.Apply(shop, `
apiVersion: operkit.dev/v1
kind: TemporaryPatch
metadata: {name: sold-out}
spec:
  apiVersion: example.dev/v1
  kind: Shop
  name: tea
  patchType: strategic
  expiresAt: "2030-01-03T00:00:00Z" # the clock of the harness starts the day before
  patch: {door: {configmap/tea-door: {data: {sign: sold out}}}}`)
	h.RunUntilSettled()
	fmt.Println(sign(), h.Condition("TemporaryPatch sold-out", "Applied").Message)
	h.Advance(24 * time.Hour)
	fmt.Println(sign(), h.Condition("TemporaryPatch sold-out", "Applied").Message)
	// Output:
	// map[sign:sold out] patched door.configmap/tea-door
	// map[sign:open] expired at 2030-01-03T00:00:00Z
}

// bell is a component as a type of its own.
type bell struct{}

func (bell) Build(_ context.Context, s *reconcile.Session, c *reconcile.Component) error {
	c.Add("", map[string]any{"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": s.ScopedName("bell")}})
	return nil
}

func ExampleComponents() {
	h := reconciletest.New(console{}, reconciletest.Components(map[string]reconcile.Builder{"bell": bell{}}))
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	h.RunUntilSettled()
	h.Ready("Tested it")
	address, _, err := unstructured.NestedString(h.Get("Service it-bell").Object, "spec", "clusterIP")
	fmt.Println(address, err)
	// Output: 10.96.0.2 <nil>
}

func ExampleSimulate() {
	certificates := schema.GroupKind{Group: "example.dev", Kind: "Certificate"}
	controller := reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		s.Add("tls", map[string]any{"apiVersion": "example.dev/v1", "kind": "Certificate", "metadata": map[string]any{"name": "it"}})
		return nil
	})
	h := reconciletest.New(console{}, controller, reconciletest.Simulate(certificates, func(*unstructured.Unstructured) map[string]any {
		return map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True", "reason": "Issued"}}}
	}))
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	h.RunUntilSettled()
	fmt.Println(h.Condition("Certificate it", "Ready").Reason)
	// Output: Issued
}

func ExampleHarness_Bring() {
	day := "monday"
	h := reconciletest.New(console{}, reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		s.Add("sign", map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "sign"}, "data": map[string]any{"day": day},
		})
		return nil
	}))
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	h.RunUntilSettled()
	day = "tuesday" // a source of the controller would have seen it
	h.Bring("Tested it")
	h.RunUntilSettled()
	fmt.Println(h.Get("ConfigMap sign").Object["data"])
	// Output: map[day:tuesday]
}

// A resource that somebody pauses for a day: what goes meanwhile comes back once the day is over.
func Example_pause() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	h.Edit("Shop tea", func(shop *unstructured.Unstructured) {
		shop.SetAnnotations(map[string]string{"operkit.dev/pause-execution": h.Now().Add(24 * time.Hour).Format(time.RFC3339)})
	})
	h.Delete("ConfigMap tea-door")
	h.Advance(23 * time.Hour)
	fmt.Println(h.Condition("Shop tea", reconcile.ConditionPaused).Reason, h.Get("ConfigMap tea-door") != nil)
	h.Advance(time.Hour)
	fmt.Println(h.Condition("Shop tea", reconcile.ConditionPaused).Reason, h.Get("ConfigMap tea-door") != nil)
	// Output:
	// PausedUntil false
	//  true
}

// The steps of a test: what is there, what happens, what has to have come of it.
func ExampleHarness() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	h.Exists("Deployment tea-store", "ConfigMap tea-door")
	h.Created("Deployment tea-store", "ConfigMap tea-door")

	h.Edit("Shop tea", func(shop *unstructured.Unstructured) { shop.Object["spec"] = map[string]any{"sign": "closed"} })
	h.RunUntilSettled()
	h.Configured("ConfigMap tea-door", "Shop tea status")
	h.Golden("Shop tea", "shop") // as in testdata/shop.yaml

	h.Delete("Shop tea")
	h.RunUntilSettled()
	h.Gone("Shop tea", "Deployment tea-store", "ConfigMap tea-door")
	h.Deleted("ConfigMap tea-door") // The operator didn't do it: the cluster's garbage collector did.
	// Output: FAIL: ConfigMap tea-door: was not deleted; the calls were: none
}

// A restart forgets what the operator knew, and costs no write.
func ExampleHarness_Restart() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	h.Restart()
	h.RunUntilSettled()
	h.Writes(0)
	fmt.Println(len(h.Calls()), "calls")
	// Output: 0 calls
}

// An operator that is killed between two writes goes on where it was.
func ExampleHarness_Kill() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.Kill(2, true)
	h.RunUntilSettled()
	h.Ready("Shop tea")
	fmt.Println("killed:", h.Killed())
	for _, call := range h.Calls() {
		if call.Write() {
			fmt.Println(call)
		}
	}
	// Output:
	// killed: false
	// created Deployment test/tea-store
	// failed Shop test/tea status: the process was killed
	// created ConfigMap test/tea-door
	// configured Shop test/tea status
}

// The component of an object is known when a session has rendered it.
func ExampleHarness_Components() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	h.RunUntilSettled()
	for ref, component := range h.Components() {
		if ref.Kind.Kind == "Deployment" {
			fmt.Println(ref, "is of component", component)
		}
	}
	// Output: Deployment test/tea-store is of component store
}

// What a component of somebody else says is set by hand, and a resource is reconciled once.
func ExampleHarness_Reconcile() {
	controller := reconciletest.Controlling(reconciletest.TestedKind, func(_ context.Context, s *reconcile.Session) error {
		s.Add("disk", map[string]any{"apiVersion": "example.dev/v1", "kind": "Disk", "metadata": map[string]any{"name": "it"}})
		return nil
	})
	h := reconciletest.New(console{}, controller)
	h.Apply(reconciletest.Resource(reconciletest.TestedKind, "it", nil))
	_, err := h.Reconcile("Tested it")
	fmt.Println(err)
	h.SetStatus("Disk it", map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": "Formatting"}}})
	result, err := h.Reconcile("Tested it")
	fmt.Println(result.RequeueAfter, err)
	fmt.Println(h.Condition("Tested it", "Ready").Message)
	// Output:
	// <nil>
	// 1m0s <nil>
	// disk: Disk it: InProgress (the condition Ready is not True)
}

// A fault lets some reconciles pass, and ends when it is healed.
func ExampleFault() {
	h := reconciletest.New(console{}, Shop{})
	h.Apply(shop)
	jammed := h.Fail("store", reconciletest.Deploy, errors.New("jammed")).After(1)
	dark := h.FailOnce("store", reconciletest.Verify, errors.New("dark"))
	for range 3 {
		_, err := h.Reconcile("Shop tea")
		fmt.Println(err)
	}
	jammed.Heal()
	h.RunUntilSettled()
	h.Ready("Shop tea")
	fmt.Println(jammed.Met(), dark.Met())
	// Output:
	// component door: gate on component store: dark
	// component store: dark
	// component store: jammed
	// component store: jammed
	// 2 1
}

// By their definitions kinds are as strict as on a server.
func ExampleDefinitions() {
	h := reconciletest.New(console{}, Shop{},
		reconciletest.Definitions("testdata/crds"),
		reconciletest.Namespace("market"),
		reconciletest.Memory(dryrun.Namespaces("elsewhere")),
		reconciletest.Manager(deploy.FieldManager("market-operator")),
		reconciletest.With(reconcile.NameObjects()))
	h.Apply(shop)
	h.RunUntilSettled()
	door := h.Get("ConfigMap tea-door")
	fmt.Println(door.GetNamespace(), door.GetManagedFields()[0].Manager, door.GetAnnotations()["operkit.dev/internal-name"])
	// Output: market market-operator door.configmap/tea-door
}

// Street controls the streets of a market, which consist of shops.
type Street struct{}

// Kind implements reconcile.Controller.
func (Street) Kind() schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: "example.dev", Version: "v1", Kind: "Street"}
}

// Setup implements reconcile.Controller.
func (Street) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("tea", reconcile.YAML(shop))
	return nil
}

func ExampleAlso() {
	h := reconciletest.New(console{}, Street{}, reconciletest.Also(Shop{}))
	h.Apply(reconciletest.Resource(Street{}.Kind(), "main", nil))
	h.RunUntilSettled()
	h.Ready("Street main", "Shop tea")
	h.Exists("ConfigMap tea-door")
	// Output:
}

// ending is a console whose test ends with ctx.
type ending struct {
	console
	ctx context.Context
}

func (e ending) Context() context.Context { return e.ctx }

// The same test runs on a real cluster, here on another one in memory that takes its place.
func ExampleOn() {
	real, err := dryrun.New(dryrun.AnyKind())
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h := reconciletest.New(ending{ctx: ctx}, Shop{}, reconciletest.On(real, 50*time.Millisecond), reconciletest.Namespace("market"))
	h.Apply(shop)
	h.RunUntilSettled()
	h.Exists("Deployment tea-store")
	fmt.Println("on a real cluster:", h.Real())
	_, err = h.Cluster().Port().Get(context.Background(), deploy.Ref{Kind: Shop{}.Kind(), Namespace: "market", Name: "tea"})
	fmt.Println(err)
	end()
	real.Wait()
	// Output:
	// on a real cluster: true
	// <nil>
}

// Components that don't wait for each other run concurrently. The test lets the last one go first.
func ExampleInterleave() {
	test := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := reconciletest.New(t, Shop{}, reconciletest.Interleave(func(waiting []reconciletest.Call) int { return len(waiting) - 1 }))
			h.Apply(shop)
			h.RunUntilSettled()
			h.Ready("Shop tea")
		})
	}
	fmt.Println("passes:", passes(test))
	// Output: passes: true
}

// Engines have several workers, so reconciles of two resources overlap.
func ExampleHarness_Overlap() {
	test := func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := reconciletest.New(t, Shop{}, reconciletest.Interleave(func([]reconciletest.Call) int { return 0 }))
			h.Apply(shop)
			h.Apply(strings.Replace(shop, "tea", "milk", 1))
			h.Overlap(2, "Shop tea")
			h.RunUntilSettled()
			h.Ready("Shop tea", "Shop milk")
		})
	}
	fmt.Println("passes:", passes(test))
	// Output: passes: true
}

// passes runs a test without the lines that go test -v prints.
func passes(test func(t *testing.T)) bool {
	verbose := flag.Lookup("test.v")
	before := verbose.Value.String()
	defer func() { _ = verbose.Value.Set(before) }()
	if err := verbose.Value.Set("false"); err != nil {
		return false
	}
	return testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestOrder", F: test}})
}
