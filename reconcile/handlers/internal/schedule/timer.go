package schedule

import (
	"errors"
	"fmt"
	"time"
)

// Timer calls a handler again and again. Times that are left out are nil. Without Interval the handler is called once
// after each change, when Idle has passed; without both it is called once.
type Timer struct {
	// Interval is the time from the end of a call to the start of the next one.
	Interval *time.Duration
	// Sharp counts Interval from the start of the call instead. A call that takes longer skips the times that pass
	// meanwhile, but not one at its end.
	Sharp bool
	// Idle is the time for which the object has to be without essential changes before each call.
	Idle *time.Duration
	// InitialDelay is the time from when the object is first seen to the first call, once for each object and process.
	InitialDelay *time.Duration
}

// Validate returns everything that is wrong with the timer. subject begins each error.
func (t *Timer) Validate(subject string) error {
	faults := []error{
		positive(subject, "the interval", t.Interval),
		positive(subject, "the idle time", t.Idle),
		positive(subject, "the initial delay", t.InitialDelay),
	}
	if t.Sharp && t.Interval == nil {
		faults = append(faults, fmt.Errorf("%s: a sharp timer has no interval: set one, or let the timer not be sharp", subject))
	}
	return errors.Join(faults...)
}

func positive(subject, what string, d *time.Duration) error {
	if d == nil || *d > 0 {
		return nil
	}
	return fmt.Errorf("%s: %s is %s: set a positive time, or leave it out", subject, what, *d)
}

// Start plans the first call of a state that wasn't started.
func (t *Timer) Start(s State, _, _, now time.Time) State {
	if s.Started() {
		return s.without(suspended)
	}
	s = State{due: at(now), flags: started}
	if t.InitialDelay != nil {
		s.due = s.due.plus(*t.InitialDelay)
	}
	return s
}

// Ended plans the next call. A timer that is called once stops.
func (t *Timer) Ended(s State, start, end time.Time) State {
	begun := at(start)
	s = s.ended(begun)
	switch {
	case t.Interval != nil:
		s.due = t.after(begun, max(begun, at(end)))
	case t.Idle == nil:
		s = s.with(stopped)
	}
	return s
}

// after returns the first time after a call at which the next one may start.
func (t *Timer) after(start, end instant) instant {
	if !t.Sharp {
		return end.plus(*t.Interval)
	}
	left := (end - start) % instant(*t.Interval)
	if left == 0 && end > start {
		return end
	}
	return (end - left).plus(*t.Interval)
}

// Failed stops the timer.
func (t *Timer) Failed(s State, start, end time.Time) State {
	return t.Ended(s, start, end).with(stopped)
}

func (t *Timer) due(s State, changed instant) instant {
	switch {
	case t.Idle == nil:
		return s.due
	case t.Interval == nil && s.has(hasCalled) && changed < s.called: // no change since
		return never
	}
	return max(s.due, changed.plus(*t.Idle))
}
