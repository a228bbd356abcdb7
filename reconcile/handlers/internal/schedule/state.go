package schedule

import (
	"math"
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
)

// State is what is known about one timer or cron of one object. The zero value is one that wasn't started.
type State struct {
	// due is the time before which it isn't called, first the start of the first attempt of the cycle, and called the
	// start of the last attempt of the cycle before.
	due, first, called instant
	// attempts counts the attempts of the cycle that haven't succeeded, and waited those among them that have only
	// waited for something. Without any, first means nothing.
	attempts uint32
	waited   uint16
	flags    flags
}

type flags uint8

const (
	// started: the first call is planned. Without it, nothing else means anything.
	started flags = 1 << iota
	// suspended: it isn't called until it is started again.
	suspended
	// hasCalled: called means something.
	hasCalled
	// stopped: it isn't called any more.
	stopped
)

// Started reports whether the state was started.
func (s State) Started() bool { return s.has(started) }

// Stopped reports whether the handler isn't called any more for this object.
func (s State) Stopped() bool { return s.has(stopped) }

// Attempts returns the number of attempts of the present cycle that haven't succeeded.
func (s State) Attempts() int { return int(s.attempts) }

// Called returns the start of the last attempt of the last cycle, in UTC, and false before the first cycle has ended.
// It is what has to be stored for a cron, which needs whole seconds only.
func (s State) Called() (time.Time, bool) {
	if !s.has(hasCalled) {
		return time.Time{}, false
	}
	return s.called.time(), true
}

// Suspend returns the state of a handler that isn't called for the object for now: its filter doesn't pass the object,
// or the object is being deleted. Start lets it go on.
func (s State) Suspend() State { return s.with(suspended) }

// OnlyWaited returns the state for an attempt that has only waited for something, before Retried.
func (s State) OnlyWaited() State {
	if s.waited == math.MaxUint16 {
		s.attempts-- // no further one is counted at all
		return s
	}
	s.waited++
	return s
}

// NotBefore returns the state of a handler that isn't called before a time.
func (s State) NotBefore(t time.Time) State {
	s.due = max(s.due, at(t))
	return s
}

// Begin returns the state of a handler that is about to be called. A cycle whose time is over, because the attempt
// comes late, begins anew.
func (s State) Begin(limits progress.Limits, now time.Time) State {
	if limits.Spent(s.Progress(now), now) != "" {
		s.attempts, s.waited = 0, 0
	}
	return s
}

// Progress returns the record of the present cycle, for its limits. now is the start of the present attempt.
func (s State) Progress(now time.Time) progress.Record {
	r := progress.Record{Started: now, Attempts: s.Attempts(), Waited: int(s.waited)}
	if s.attempts > 0 {
		r.Started = s.first.time()
	}
	return r
}

func (s State) has(f flags) bool { return s.flags&f != 0 }

func (s State) with(f flags) State {
	s.flags |= f
	return s
}

func (s State) without(f flags) State {
	s.flags &^= f
	return s
}

// ended returns the state after a cycle whose last attempt began at start.
func (s State) ended(start instant) State {
	s.attempts, s.waited, s.called = 0, 0, start
	return s.with(hasCalled)
}
