package deploytest_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/deploytest"
	"github.com/operkit/operkit/deploy/dryrun"
)

// This function tests an implementation of a cluster.
func ExampleRun() {
	testConformance := func(t *testing.T) {
		deploytest.Run(t, func(t *testing.T) deploytest.World {
			cluster, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.CollectUnknownOwners())
			if err != nil {
				t.Fatal(err)
			}
			return deploytest.World{Cluster: cluster, Namespace: "shop"}
		})
	}
	fmt.Println(passes(testConformance))
	// Output: true
}

// The implementation can select objects on the server.
func ExampleSelector() {
	testConformance := func(t *testing.T) {
		deploytest.Run(t, func(t *testing.T) deploytest.World {
			memory, err := dryrun.New(dryrun.Namespaces("shop"), dryrun.CollectUnknownOwners())
			if err != nil {
				t.Fatal(err)
			}
			selecting := memory.Selected(deploytest.SelectedKind, deploytest.Selector(), nil)
			return deploytest.World{Cluster: selecting, Namespace: "shop", Others: memory, Selects: true}
		})
	}
	fmt.Println(deploytest.Selector(), passes(testConformance))
	// Output: tier=web true
}

// passes runs a test quietly and reports whether it passed.
func passes(test func(t *testing.T)) bool {
	verbose := flag.Lookup("test.v").Value
	before := verbose.String()
	defer func() { _ = verbose.Set(before) }()
	_ = verbose.Set("false")
	return testing.RunTests(func(_, _ string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "TestConformance", F: test}})
}

// The groups of cases.
func ExampleCases() {
	last := ""
	for _, c := range deploytest.Cases() {
		if family, _, _ := strings.Cut(c.Name, "/"); family != last {
			fmt.Println(family)
			last = family
		}
	}
	// Output:
	// kinds
	// create
	// update
	// immutable
	// apply
	// ownership
	// merge
	// patch
	// status
	// delete
	// finalizers
	// garbage
	// list
	// view
	// events
	// selection
	// manager
	// removal
	// conflicts
	// strategies
	// owners
	// sets
	// applysets
	// at once
	// contexts
	// namespaces
}
