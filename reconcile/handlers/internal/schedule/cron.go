package schedule

import "time"

// Cron calls a handler at the moments of an expression. However many moments have passed since the last call, the
// handler is called once for them. NewCron makes one.
type Cron struct {
	fields fields
	// every is the time between moments of an expression without fields.
	every time.Duration
}

// skew is how far in the future a stored time may be: the clocks of two processes differ by less.
const skew = time.Hour

// Start plans the first call of a state that wasn't started: at the first moment after the stored time, or after the
// creation of the object if there is none. A stored time that is later than the state's counts in its place: another
// process has called the handler meanwhile. One that is more than an hour in the future was written by a clock that was
// wrong, and counts as now.
func (c *Cron) Start(s State, created, stored, now time.Time) State {
	if stored.After(now.Add(skew)) {
		stored = now
	}
	switch {
	case !s.Started() && stored.IsZero():
		if created.IsZero() || created.After(now) {
			created = now
		}
		return State{due: c.next(created), flags: started}
	case !s.Started() || !stored.IsZero() && !(s.has(hasCalled) && at(stored) <= s.called):
		return c.Ended(State{flags: started}, stored, stored)
	}
	return s.without(suspended)
}

// Ended plans the call at the first moment after start: moments that have passed during the call aren't forgotten.
func (c *Cron) Ended(s State, start, _ time.Time) State {
	s = s.ended(at(start))
	s.due = c.next(start)
	return s
}

// Failed gives this moment up.
func (c *Cron) Failed(s State, start, end time.Time) State { return c.Ended(s, start, end) }

func (c *Cron) due(s State, _ instant) instant { return s.due }

// next returns the first moment after a time.
func (c *Cron) next(t time.Time) instant {
	if c.every > 0 {
		return at(t.Truncate(time.Second)).plus(c.every)
	}
	if next, ok := c.fields.next(t); ok {
		return at(next)
	}
	return never
}
