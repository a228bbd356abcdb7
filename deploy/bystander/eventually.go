package bystander

import "time"

// pause is how long Eventually waits before it asks again.
const pause = 10 * time.Millisecond

// Eventually waits until a condition holds, which it asks again and again, on the goroutine of the test: condition may fail the test, too.
// One that doesn't hold within the bystander's patience fails the test, and what is what its message says was waited for. A condition is
// asked once at least.
func (b *Bystander) Eventually(what string, condition func() bool) {
	b.t.Helper()
	for deadline := time.Now().Add(b.patience); !condition(); time.Sleep(pause) {
		if time.Now().After(deadline) {
			b.t.Fatalf("bystander %s: not within %s: %s", b.name, b.patience, what)
		}
	}
}
