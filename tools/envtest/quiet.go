package envtest

import (
	"testing"
	"time"
)

const (
	// calm is how long nothing is written for users to be quiet.
	calm = 500 * time.Millisecond
	// quietTimeout is how long that is waited for.
	quietTimeout = time.Minute
)

// AwaitQuiet waits until the given users have written nothing for half a second, refused writes and events included:
// such as an operator that has nothing to do any more. Without users it is about the test's own. Who goes on writing
// for a minute fails the test.
func (e *Env) AwaitQuiet(t testing.TB, users ...*User) {
	t.Helper()
	e.awaitQuiet(t, quietTimeout, users)
}

func (e *Env) awaitQuiet(t testing.TB, timeout time.Duration, users []*User) {
	t.Helper()
	for deadline := time.Now().Add(timeout); ; {
		mark := e.Mark(t)
		time.Sleep(calm)
		writes := e.CallsSince(t, mark, users...).Writes()
		if len(writes) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("envtest: not quiet after %s: the last writes are\n%s", timeout, writes)
		}
	}
}
