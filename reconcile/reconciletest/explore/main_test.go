package explore

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or an operator as a process of its own.
func TestMain(m *testing.M) {
	if os.Getenv(processOf) != "" {
		os.Exit(operate())
	}
	if os.Getenv(leaking) != "" {
		os.Exit(m.Run())
	}
	goleak.VerifyTestMain(m)
}
