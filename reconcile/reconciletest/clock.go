package reconciletest

import (
	"context"
	"sync"
	"testing/synctest"
	"time"
)

// Started is the time at which the clock of a cluster in memory starts.
var Started = time.Date(2030, time.January, 2, 3, 4, 5, 0, time.UTC)

// clock is the time of a harness: the real time, the time of a bubble of testing/synctest, or a time that only the
// harness moves.
type clock struct {
	real, bubble bool
	// began is the time of the bubble at Started.
	began time.Time

	mu      sync.Mutex
	present time.Time
}

func newClock(real bool) *clock {
	return &clock{real: real, bubble: !real && inBubble(), began: time.Now(), present: Started}
}

// inBubble reports whether the calling test runs in a bubble.
func inBubble() (in bool) {
	defer func() { in = recover() == nil }()
	synctest.Wait() // panics outside of a bubble
	return true
}

func (c *clock) now() time.Time {
	switch {
	case c.real:
		return time.Now()
	case c.bubble:
		return Started.Add(time.Since(c.began))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present
}

// pass lets time pass until a time, which is never in the past. In a bubble and in real time it returns earlier when it
// is woken, or when ctx ends.
func (c *clock) pass(ctx context.Context, until time.Time, wake <-chan struct{}) {
	if c.real || c.bubble {
		timer := time.NewTimer(until.Sub(c.now()))
		defer timer.Stop()
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if until.After(c.present) {
		c.present = until
	}
}

// quiesce waits in a bubble until every other goroutine of the bubble waits for something.
func (c *clock) quiesce() {
	if c.bubble {
		synctest.Wait()
	}
}
