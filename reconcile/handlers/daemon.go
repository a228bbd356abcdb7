package handlers

import (
	"context"
	"fmt"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/daemon"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/trigger"
	"github.com/operkit/operkit/reconcile/internal/typed"
	"github.com/operkit/operkit/reconcile/request"
)

// Daemon registers a handler that runs in the background for each object, in a goroutine of its own: from the time at
// which the process sees the object, until the object is deleted or paused, doesn't match any more, or the operator
// ends. Then its context ends, and context.Cause returns the Stop. It is called again when the object matches again,
// and after a restart. Between two looks at the world it sleeps with Request.Sleep:
//
//	for r.Sleep(ctx, 10*time.Second) {
//		size, err := measure(ctx, r.Latest())
//		…
//	}
//	return nil
//
// A daemon that returns nil before it is stopped has ended, and isn't called again for the object in this process.
// After an error it is called again, see Backoff, MaxAttempts, Within and Errors; a call that lasted ten minutes counts
// as a success. Within is the time of all calls since the first.
//
// The finalizer of an object with a daemon waits until the daemon has returned. A daemon that doesn't return within its
// Grace is abandoned: a warning and an event name it, its goroutine is left behind, and nothing waits for it any more.
// At the end of the operator daemons have at most the grace time of the engine, and five seconds when the leadership is
// lost.
//
// Daemons need one leader for all objects: an operator with a lock per object refuses them at the start. What a daemon
// sets by Update, Result and Condition is written by Flush, and when it returns.
func (h *Handlers[T]) Daemon(id string, f Func[T], opts ...Option) {
	h.add(selection.Daemon, id, f, opts)
}

// Grace sets how long a Daemon may go on after it was stopped; default 10 seconds.
func Grace(d time.Duration) Option {
	return func(s *settings) {
		switch {
		case s.On != selection.Daemon:
			s.fail("grace: only for handlers of Daemon: leave the option out")
		case d <= 0:
			s.fail("grace %s: the daemon couldn't end its work: use a positive time", d)
		}
		s.grace = d
	}
}

// Stop is the reason why a Daemon was stopped: context.Cause of its context. errors.Is reports that each Stop is
// context.Canceled.
type Stop = daemon.Stop

// The reasons to stop a Daemon.
const (
	// StopDeleting: the deletion of the object has begun.
	StopDeleting = daemon.Deleting
	// StopGone: the object doesn't exist any more, or the operator doesn't see it any more.
	StopGone = daemon.Gone
	// StopReplaced: another object has the name of the object.
	StopReplaced = daemon.Replaced
	// StopMismatch: the object doesn't pass the filters any more.
	StopMismatch = daemon.Mismatch
	// StopPaused: the object is paused.
	StopPaused = daemon.Paused
	// StopReleased: the operator no longer reconciles the kind.
	StopReleased = daemon.Released
	// StopStandby: another process of the operator has taken over, or the operator is frozen, see package peering.
	StopStandby = daemon.Standby
	// StopExiting: the operator ends.
	StopExiting = daemon.Exiting
	// StopLost: the operator isn't the leader any more. It is also leader.ErrLost.
	StopLost = daemon.Lost
	// StopOverdue: the time of Within is over.
	StopOverdue = daemon.Overdue
)

// Sleep waits for a time. It returns false, at once, when ctx has ended: a Daemon then returns.
func (r *Request[T]) Sleep(ctx context.Context, d time.Duration) bool { return trigger.Sleep(ctx, d) }

// Latest returns the newest state of the object, for a Daemon: Object is its state when the call began. It is a copy,
// and never older than what Flush has written. A state that can't be converted to T is left out. When the object is
// gone or the context has ended, it is the last state. Other handlers get Object.
func (r *Request[T]) Latest() *T {
	if r.attempt.IsDaemon() && r.attempt.Latest() {
		if decoded, err := typed.Decode[T](r.attempt.Object().Object); err == nil {
			r.latest = decoded
		}
	}
	if r.latest == nil {
		return r.Object
	}
	return r.latest
}

// Flush writes now what was set by Update, Result and Condition. What can't be written is kept for the next Flush, or
// for the end of the call.
func (r *Request[T]) Flush(ctx context.Context) error {
	if !r.attempt.IsDaemon() {
		return request.Permanent(fmt.Errorf("flush: %s is no daemon: what it sets is written when it returns", r.attempt.Handler.ID))
	}
	r.Latest()
	return r.attempt.Flush(ctx)
}
