package explore_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/reconciletest"
	"github.com/operkit/operkit/reconcile/reconciletest/explore"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watch"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var kind = schema.GroupVersionKind{Group: "explore.operkit.dev", Version: "v1", Kind: "Shop"}

// Shop is a controller of sessions.
type Shop struct{}

// Kind implements reconcile.Controller.
func (Shop) Kind() schema.GroupVersionKind { return kind }

// Setup implements reconcile.Controller.
func (Shop) Setup(_ context.Context, s *reconcile.Session) error {
	s.Add("door", map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": s.Name()}})
	return nil
}

// NewController makes the controller of a process.
func NewController() Shop { return Shop{} }

// A whole test. Its findings fail it.
func ExampleRun() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"), explore.States(200))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// What stays on purpose, where the objects are, and how long to go on are options.
func ExampleLeaves() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Harness(reconciletest.Namespace("default")), explore.Leaves("PersistentVolumeClaim"),
			explore.States(300), explore.Findings(1), explore.Seed(7))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// The last line of a finding is an option that follows it alone.
func ExampleReplay() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Replay("Shop.explore.operkit.dev tea | kill-after@1.2"))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// Any style is explored. This operator does nothing.
func ExampleDrive() {
	newController := func() watch.Controller {
		return watch.NewController(kind, func(context.Context, watch.Env) (watch.Reconciler, error) { return nothing{}, nil })
	}
	test := func(t *testing.T) {
		explore.Drive(t, newController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"), explore.States(200))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

type nothing struct{}

// Reconcile implements watch.Reconciler.
func (nothing) Reconcile(context.Context, request.Request) (request.Result, error) {
	return request.Result{}, nil
}

// passes runs a test without the lines that go test -v prints.
func passes(test func(t *testing.T)) bool {
	verbose := flag.Lookup("test.v")
	before := verbose.Value.String()
	defer func() { _ = verbose.Value.Set(before) }()
	if err := verbose.Value.Set("false"); err != nil {
		return false
	}
	return testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestExplore", F: test}})
}
