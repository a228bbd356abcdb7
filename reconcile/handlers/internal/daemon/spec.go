package daemon

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
)

// DefaultGrace is the Grace of a daemon that has none.
const DefaultGrace = 10 * time.Second

// Spec is a daemon that an object is to have. T is the type of the object.
type Spec[T any] struct {
	// ID identifies the daemon among those of an object. For a daemon that runs, the rest of a new Spec has no effect.
	ID string
	// Run is the daemon. Its context is cancelled when the daemon is to stop; context.Cause returns the Stop. A daemon
	// that returns nil before that has ended, and isn't run again for its object. A panic is an error.
	Run func(ctx context.Context, h Handle[T]) error
	// Delay is the time before a daemon is run for the first time, and for the first time after a stop.
	Delay time.Duration
	// Grace is the time from the Stop after which a daemon that hasn't returned is abandoned; zero is DefaultGrace.
	Grace time.Duration
	// Limits bound the runs until the daemon has failed for good. Within is measured from the beginning of the first
	// run and stops a daemon that runs. A run of at least ten minutes makes the earlier failures not count as Attempts.
	// Runs that have only waited for something don't count either (request.IsWaiting).
	Limits progress.Limits
	// Retry is called with the error of a run and the number of failures and waits. It returns the time until the next
	// run, and false if the daemon has failed for good. It must not block. Nil means that each error is for good.
	Retry func(err error, failures int) (after time.Duration, again bool)
}

func (s Spec[T]) grace() time.Duration {
	if s.Grace <= 0 {
		return DefaultGrace
	}
	return s.Grace
}

// Handle is what a daemon knows of its object. It is safe for concurrent use, also after the daemon was stopped.
type Handle[T any] struct {
	latest *atomic.Pointer[T]
	// Attempt is the number of failures and waits before this run.
	Attempt int
}

// Latest returns the object of the latest pass. It isn't updated any more when the object is gone or was replaced.
func (h Handle[T]) Latest() *T { return h.latest.Load() }
