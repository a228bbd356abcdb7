package explore_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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

// What the operator does on purpose isn't judged: claims stay when somebody deletes them.
func ExampleIgnore() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Ignore("PersistentVolumeClaim *", "Shop * status.conditions[Resumed]"), explore.States(100))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// An operator whose children are named after their resource doesn't confuse two of them.
func ExampleNeighbours() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Neighbours(), explore.States(60))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// What holds at any moment, also between two writes.
func ExampleAlways() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"), explore.States(100),
			explore.Always("a door belongs to a shop", func(s explore.State) error {
				if door := s.Object("ConfigMap tea"); door != nil && len(door.GetOwnerReferences()) == 0 {
					return errors.New("nobody owns the door")
				}
				return nil
			}))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// What holds whenever the operator has nothing left to do.
func ExampleEventually() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"), explore.States(100),
			explore.Eventually("a shop has a door", func(s explore.State) error {
				if shop := s.Resource(); shop != nil && s.Object("ConfigMap "+shop.GetName()) == nil {
					return fmt.Errorf("there is no door at %s; there are %d objects", s.Now(), len(s.Objects()))
				}
				return nil
			}))
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

// Findings are kept in files of a folder, and replayed first in each run.
func ExampleCorpus() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Corpus("testdata/explore"), explore.States(100))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// A test that runs at night has a bound by time.
func ExampleFor() {
	test := func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"), explore.For(time.Second))
	}
	fmt.Println("sound:", passes(test))
	// Output: sound: true
}

// A picture shows the states that were reached.
func ExamplePicture() {
	folder, err := os.MkdirTemp("", "explore")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	file := filepath.Join(folder, "states.svg")
	passes(func(t *testing.T) {
		explore.Run(t, NewController, explore.Definitions("testdata/crd"), explore.Samples("testdata/samples"),
			explore.Picture(file), explore.States(100))
	})
	picture, err := os.ReadFile(file)
	fmt.Println(strings.Contains(string(picture), "create Shop.explore.operkit.dev tea"), err)
	// Output: true <nil>
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
