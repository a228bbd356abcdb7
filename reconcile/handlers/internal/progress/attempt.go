package progress

import (
	"fmt"
	"time"
)

// Limits bound the attempts of a handler.
type Limits struct {
	// Attempts is the largest number of attempts, 0 for any number. Those that have only waited don't count.
	Attempts int
	// Within is the time from the first attempt after which there is no other one, 0 for any time.
	Within time.Duration
}

// Begin returns the record of a handler that is about to be called for an essence.
func (r Record) Begin(seen string, now time.Time) Record {
	if r.Started.IsZero() {
		r.Started = now
	}
	r.Seen, r.Due, r.Waiting = seen, time.Time{}, false
	return r
}

// Deadline returns the time at which a running attempt is cancelled, and false if there is no limit.
func (l Limits) Deadline(r Record) (time.Time, bool) {
	return r.Started.Add(l.Within), l.Within > 0
}

// Spent returns why no attempt is left, before one is made; empty if one is.
func (l Limits) Spent(r Record, now time.Time) string {
	switch {
	case l.Within > 0 && !r.Started.IsZero() && now.Sub(r.Started) >= l.Within:
		return fmt.Sprintf("given up after %s", l.Within)
	case l.Attempts > 0 && r.Attempts-r.Waited >= l.Attempts:
		return fmt.Sprintf("given up after %d attempts", l.Attempts)
	}
	return ""
}

// Succeeded returns the record of a handler that has succeeded.
func (r Record) Succeeded(now time.Time) Record {
	r.Attempts++
	r.Ended, r.Failed, r.Message = now, false, ""
	return r
}

// FailedForGood returns the record of a handler that isn't called again in this cycle because of message.
func (r Record) FailedForGood(message string, now time.Time) Record {
	r.Attempts++
	r.Ended, r.Failed, r.Message = now, true, message
	return r
}

// OnlyWaited returns the record for an attempt that has only waited for something, before Retried.
func (r Record) OnlyWaited() Record {
	r.Waited, r.Waiting = r.Waited+1, true
	return r
}

// Retried returns the record of a handler that has failed and is called again after a time. If no attempt within the
// limits could be made then, it has failed for good now.
func (l Limits) Retried(r Record, message string, after time.Duration, now time.Time) Record {
	r.Attempts++
	r.Message, r.Due = message, now.Add(max(after, 0))
	if why := l.Spent(r, r.Due); why != "" {
		r.Attempts--
		return r.FailedForGood(why+": "+message, now)
	}
	return r
}

// Undone returns the record before the end of its last attempt.
func (r Record) Undone() Record {
	if r.HasEnded() {
		r.Ended, r.Failed, r.Attempts = time.Time{}, false, max(0, r.Attempts-1)
	}
	return r
}

// Waits returns the record of a handler whose steps wait: it is called again when the first of them is due. That is no
// attempt of its own.
func (r Record) Waits(due time.Time) Record {
	r.Due = due
	return r
}
