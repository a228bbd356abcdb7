package reconciletest

import (
	"sync"
	"time"
)

// Started is the time at which the clock of a cluster in memory starts.
var Started = time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC)

// clock is the time that a harness works with: the real one, or one that only the harness moves.
type clock struct {
	real bool

	mu      sync.Mutex
	present time.Time
}

func (c *clock) now() time.Time {
	if c.real {
		return time.Now()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present
}

// moveTo never moves back.
func (c *clock) moveTo(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t.After(c.present) {
		c.present = t
	}
}
