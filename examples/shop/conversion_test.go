package main

import (
	"testing"

	"github.com/operkit/operkit/reconcile/conversion/conversiontest"
)

// Nothing is lost on the way through a version, for generated objects of both versions. Only the street is kept in an
// annotation, because version 1 can't hold it.
func TestRoundTrips(t *testing.T) {
	t.Parallel()
	conversiontest.RoundTrips(t, conversions(), conversiontest.Keeps("v2", "spec.street"))
}

func FuzzConversions(f *testing.F) {
	conversiontest.Fuzz(f, conversions(), conversiontest.Keeps("v2", "spec.street"))
}
