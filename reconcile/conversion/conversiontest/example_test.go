package conversiontest_test

import (
	"fmt"
	"testing"

	"github.com/operkit/operkit/reconcile/conversion"
	"github.com/operkit/operkit/reconcile/conversion/conversiontest"
)

// versions returns a converter with a mistake: a shop without paint can't be read as v1.
func versions() *conversion.Converter[shopV2] {
	return shops(upFromV1, func(from *shopV2, to *shopV1) error {
		to.Spec.Count = from.Spec.Replicas
		to.Spec.Colour = from.Spec.Paint.Colour
		to.Spec.Tags = from.Spec.Labels
		return nil
	})
}

// A test of all versions is one line. Here it is called with another T, which prints.
func ExampleRoundTrips() {
	test := func(t conversiontest.T) { conversiontest.RoundTrips(t, versions()) }
	test(printing{})
	// Output:
	// Down of v1 panics: runtime error: invalid memory address or nil pointer dereference
	// object: {"apiVersion":"example.com/v2","kind":"Shop"}
}

// Check is for a tool that isn't a test.
func ExampleCheck() {
	report, err := conversiontest.Check(versions(), conversiontest.Objects(20), conversiontest.Seed(5),
		conversiontest.Derived("v1", "status.open"), conversiontest.Keeps("v1", "spec.motto", "spec.size"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, found := range report.Findings {
		fmt.Println(found.Problem, "-", found.Function)
	}
	// Output: panics - Down of v1
}

// In a file of tests: func FuzzVersions(f *testing.F) { conversiontest.Fuzz(f, versions()) }
func ExampleFuzz() {
	_ = func(f *testing.F) {
		conversiontest.Fuzz(f, versions(), conversiontest.Valid(func(shop *shopV1) { shop.Spec.Size = "small" }))
	}
	fmt.Println("go test -fuzz FuzzVersions")
	// Output: go test -fuzz FuzzVersions
}

// printing is a T for examples.
type printing struct{}

func (printing) Helper()                           {}
func (printing) Logf(string, ...any)               {}
func (printing) Errorf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
func (printing) Fatalf(format string, args ...any) { fmt.Printf(format+"\n", args...) }
