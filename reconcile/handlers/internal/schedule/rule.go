package schedule

import (
	"time"

	"github.com/operkit/operkit/reconcile/handlers/internal/progress"
)

// Rule decides when a handler is called: a *Timer or a *Cron. A Rule is safe for concurrent use.
type Rule interface {
	// Start returns the state of a handler that is called for an object from now on. A state that was started before
	// goes on. created is the creation of the object, and stored the time that was stored for a cron, zero for none.
	Start(s State, created, stored, now time.Time) State
	// Ended returns the state after an attempt from start to end that has succeeded, or with which the handler is given
	// up for this time.
	Ended(s State, start, end time.Time) State
	// Failed returns the state after an attempt from start to end that has failed for good: it stops a timer. A cron is
	// called again at its next moment.
	Failed(s State, start, end time.Time) State

	// due returns the time from which the handler is to be called. changed is the last essential change of the object.
	due(s State, changed instant) instant
}

// Retried returns the state after an attempt from start to end that has failed, and is repeated after a time. If no
// attempt within the limits could be made then, the handler is given up for this time, and why says so; otherwise why
// is empty.
func Retried(rule Rule, s State, limits progress.Limits, after time.Duration, start, end time.Time) (next State, why string) {
	due := end.Add(max(after, 0))
	record := s.Progress(start)
	record.Attempts++
	if why := limits.Spent(record, due); why != "" {
		return rule.Ended(s, start, end), why
	}
	if s.attempts == 0 {
		s.first = at(start)
	}
	s.attempts++
	s.due = at(due)
	return s, ""
}

// Rules are those of all handlers of a kind. The states of an object are a slice of the same length in the same order.
type Rules []Rule

// Due returns the handlers that are to be called now, as indexes in their order, and when the first of the others is
// due; ok is false if none is. changed is the last time at which the essence of the object changed, as this process has
// seen it. To see the object for the first time is a change, too.
func (r Rules) Due(states []State, changed, now time.Time) (ready []int, next time.Time, ok bool) {
	present, change, first := at(now), at(changed), never
	for i, s := range states {
		if s.flags&(started|suspended|stopped) != started {
			continue
		}
		due := r[i].due(s, change)
		if due <= present {
			ready = append(ready, i)
			continue
		}
		first = min(first, due)
	}
	if first == never {
		return ready, time.Time{}, false
	}
	return ready, first.time(), true
}
