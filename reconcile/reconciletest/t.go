package reconciletest

import (
	"context"
	"slices"
	"strings"
)

// T has the methods of a test that a Harness calls; *testing.T, *testing.B and *testing.F implement it. Fatalf must not
// return. Context must end before the functions of Cleanup run.
type T interface {
	// Helper marks the calling function as a helper, so that messages don't show its line.
	Helper()
	// Context is the context of everything that the test runs.
	Context() context.Context
	// Cleanup registers f, which is called when the test has ended.
	Cleanup(f func())
	// Failed reports whether the test has failed.
	Failed() bool
	// Logf logs a message, Errorf also marks the test as failed, and Fatalf also ends it.
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// logged writes log lines into the output of a test.
type logged struct{ t T }

func (l logged) Write(line []byte) (int, error) {
	l.t.Logf("%s", strings.TrimRight(string(line), "\n"))
	return len(line), nil
}

// joined lists names in sorted order, each once.
func joined(names []string) string {
	slices.Sort(names)
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(names), ", ")
}
