package watch

import (
	"sync"
	"time"
)

// sayAgain is how often it is said while an outage lasts that reconciles fail because of it.
const sayAgain = time.Minute

// outage keeps what all objects have in common, a cluster that doesn't answer, from being said once for each. The zero
// value is ready for use; it is safe for concurrent use.
type outage struct {
	mu sync.Mutex
	// said is when it was last said that a reconcile failed, zero while there is no outage; unsaid how many did since.
	said   time.Time
	unsaid int
	// failed is when one did last.
	failed time.Time
}

// fails takes note of a reconcile that failed. It tells whether that is to be said, and how many weren't before.
func (o *outage) fails() (say bool, before int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	now := time.Now()
	if o.failed = now; o.said.IsZero() || now.Sub(o.said) >= sayAgain {
		before, o.said, o.unsaid = o.unsaid, now, 0
		return true, before
	}
	o.unsaid++
	return false, 0
}

// succeeds takes note of a reconcile that had failed before. It tells whether that is the end of an outage; of one that
// nothing was heard of for long it isn't.
func (o *outage) succeeds() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	over := !o.said.IsZero() && time.Since(o.failed) < 5*sayAgain
	o.said, o.unsaid = time.Time{}, 0
	return over
}
