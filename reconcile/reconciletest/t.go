package reconciletest

import "context"

// T is what a Harness needs of a test; *testing.T, *testing.B and *testing.F are one. Fatalf must not
// return. Its Context ends before what Cleanup was given runs.
type T interface {
	Helper()
	Context() context.Context
	Cleanup(f func())
	Failed() bool
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}
