package envtest

import (
	"testing"
	"time"
)

const (
	// calm is the time without writes after which users are quiet.
	calm = 500 * time.Millisecond
	// quietTimeout is how long AwaitQuiet waits for calm.
	quietTimeout = time.Minute
)

// AwaitQuiet waits until the given users have written nothing for half a second, for instance until an operator has no
// more work. Refused writes and writes of Events count, too. Without users it waits for the test's own user. It fails
// the test if a user still writes after a minute.
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
