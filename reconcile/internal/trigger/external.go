package trigger

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/operkit/operkit/reconcile/source"
)

// RunExternal runs an external source until it returns or ctx ends. After a panic it calls panicked and runs the source
// again, after a longer pause each time.
func RunExternal(ctx context.Context, external source.External, to source.Target, panicked func(value any, stack []byte)) {
	run := func() (ended bool) {
		defer func() {
			if value := recover(); value != nil {
				panicked(value, debug.Stack())
			}
		}()
		external.Run(ctx, to)
		return true
	}
	for failures := 0; !run() && Sleep(ctx, Delay(FirstRetry, LongestRetry, failures)); failures++ {
	}
}

// Sleep waits for a time. It returns false if ctx ends before that.
func Sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	return ctx.Err() == nil
}
