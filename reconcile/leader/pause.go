package leader

import (
	"context"
	"math/rand/v2"
	"time"
)

// pause waits and tells whether ctx still goes on then.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}

// jittered is d and up to a fifth more.
func jittered(d time.Duration) time.Duration {
	return d + rand.N(d/5+1)
}
