package reconciletest

import "context"

// T is what a Harness needs of a test; *testing.T, *testing.B and *testing.F are one. Fatalf must not
// return. Its Context ends before what Cleanup was given runs.
type T interface {
	// Helper leaves the caller out of the places that messages name.
	Helper()
	// Context is the one that everything in the test runs under.
	Context() context.Context
	// Cleanup has f called when the test has ended.
	Cleanup(f func())
	// Failed tells whether it has failed by now, in which case more is said at its end.
	Failed() bool
	// Logf says something, Errorf makes the test fail besides, Fatalf ends it, too.
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
