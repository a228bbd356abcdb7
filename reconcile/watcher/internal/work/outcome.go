package work

import "time"

// Outcome is how a call has ended.
type Outcome struct {
	Err error
	// After asks for another call after a time, zero for none. After an error it takes the place of the policy's time,
	// and the failure doesn't count.
	After time.Duration
	// Delay is the time until the next try that the error sets, zero for the policy's.
	Delay time.Duration
	// IsFinal: the error isn't retried.
	IsFinal bool
	// State is for the next call, if that repeats this one. nil keeps the state before.
	State any
	// Memo is for each following call for the object, until one succeeds.
	Memo any
	// Object is the state of the object after the call, nil if the call hasn't changed it.
	Object *Object
}

// Verdict is what follows from a failure.
type Verdict struct {
	// Failures is the number of failures in a row.
	Failures int
	// After is the time until the next try.
	After time.Duration
	// GivenUp: there is no next try until something happens.
	GivenUp bool
	// IsStale: the object was deleted meanwhile, so that the failure means nothing any more.
	IsStale bool
}

// Policy decides whether a call is repeated after an error, and when. failures is the number of failures in a row
// before this one.
type Policy func(err error, failures int) (after time.Duration, again bool)

// Undo takes a call back: it is due again. wasMade: the watcher was called, and interrupted.
func (w *Work) Undo(c Call, now time.Time, wasMade bool) {
	w.runs = false
	if !wasMade && c.life == w.life {
		w.called = c.called
	}
	switch {
	case c.Action == Delete && w.over != c.Object:
	case c.Action == Delete && !c.IsRetry:
		w.gone = true
	case c.Action == Delete, c.life == w.life && c.IsRetry:
		w.Hurry(now)
	case c.life == w.life:
		w.version = ""
		if w.news == "" {
			w.news = c.Action
		}
	}
}

// Done notes how a call has ended. policy decides about repetitions; nil never repeats.
func (w *Work) Done(c Call, out Outcome, now time.Time, policy Policy) Verdict {
	w.runs = false
	if c.Action == Delete && w.over != c.Object || c.Action != Delete && (w.over != nil || c.life != w.life) {
		if c.Action != Delete && w.over != nil && w.over.GetUID() == c.Object.GetUID() {
			w.memo = out.Memo // for the call for its deletion
		}
		return Verdict{IsStale: true}
	}
	if out.Object != nil && c.Action != Delete {
		w.version = out.Object.GetResourceVersion()
	}
	if out.State == nil {
		out.State = c.State
	}
	if out.Err != nil {
		w.memo = out.Memo
		return w.fails(c, out, now, policy)
	}
	w.succeeds(c, out, now)
	return Verdict{}
}

// succeeds notes a success.
func (w *Work) succeeds(c Call, out Outcome, now time.Time) {
	w.memo, w.failed = nil, nil
	kept := w.retry
	if kept != nil && (c.IsRetry || kept.err != nil) {
		kept = nil // a success settles what has failed before
	}
	if out.After > 0 {
		asked := &retry{action: c.Action, object: c.Object, due: now.Add(out.After), state: out.State}
		if kept == nil || asked.due.Before(kept.due) {
			kept = asked
		}
	}
	w.retry = kept
	if c.Action == Delete {
		if kept == nil {
			w.over, w.gone = nil, false
		}
		return
	}
	w.handled, w.old, w.isChanged = true, c.Object, w.news == Update || w.news == Create
	if out.Object != nil {
		w.old = out.Object
	}
	if w.news == Create {
		w.news = Update
	}
}

// fails notes a failure.
func (w *Work) fails(c Call, out Outcome, now time.Time, policy Policy) Verdict {
	kept := w.retry
	if c.IsRetry {
		kept = nil
	}
	failures := c.Failures
	if kept != nil && kept.err != nil {
		if !out.IsFinal && out.After == 0 && out.Delay == 0 { // the repetition stands, with the new error
			kept.err, kept.object = out.Err, c.Object
			if out.State != nil {
				kept.state = out.State
			}
			return Verdict{Failures: kept.failures, After: max(kept.due.Sub(now), 0)}
		}
		kept, failures = nil, kept.failures // the new error decides, and the failures count on
	}
	next := &retry{action: c.Action, object: c.Object, err: out.Err, failures: failures + 1, state: out.State}
	after, again := time.Duration(0), false
	switch {
	case out.IsFinal:
	case out.After > 0:
		after, again, next.failures = out.After, true, failures
	case policy != nil:
		after, again = policy(out.Err, failures)
		if out.Delay > 0 {
			after = out.Delay
		}
	}
	after = max(after, 0)
	next.due = now.Add(after)
	if again {
		if kept != nil && kept.due.Before(next.due) {
			next.due = kept.due
		}
		w.retry, w.failed = next, nil
		return Verdict{Failures: failures + 1, After: next.due.Sub(now)}
	}
	w.retry = kept
	if c.Action == Delete && kept == nil {
		w.over, w.gone, w.memo = nil, false, nil
	} else {
		w.failed = out.Err
	}
	if kept != nil { // the watcher has asked for another call
		return Verdict{Failures: failures + 1, After: max(kept.due.Sub(now), 0)}
	}
	return Verdict{Failures: failures + 1, GivenUp: true}
}
