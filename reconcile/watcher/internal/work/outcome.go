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
	// IsFinal: the error isn't retried. IsWaiting: the error is no failure, it means waiting for something.
	IsFinal, IsWaiting bool
	// State is for the next call, if that repeats this one. nil keeps the state before.
	State any
	// Memo is for each following call for the object, until one succeeds.
	Memo any
	// Object is the state of the object after the call, nil if the call hasn't changed it.
	Object *Object
}

// Decision is what is decided about a failed call: whether it is repeated, and after which time.
type Decision struct {
	Again bool
	After time.Duration
	// Most is the number of attempts that the policy accepts, as far as it is known because the policy has refused one:
	// zero if it isn't known, Never if it accepts none.
	Most int
}

// Never is the Most of a policy that accepts no attempt.
const Never = -1

// Verdict is what follows from an error.
type Verdict struct {
	// Failures is the number of failures in a row. A call that waits isn't one.
	Failures int
	// After is the time until the next try.
	After time.Duration
	// GivenUp: there is no next try until something happens.
	GivenUp bool
	// IsStale: the object was deleted meanwhile, so that the failure means nothing any more.
	IsStale bool
}

// Undo takes a call back that was interrupted: it is due again.
func (w *Work) Undo(c Call, now time.Time) {
	w.runs = false
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

// Asks returns what a policy is asked about a call before Done: the number of failures in a row before it, or of errors
// that mean waiting. most is the Most of the decision before. It returns false if nobody is asked.
func (w *Work) Asks(c Call, out Outcome) (attempt, most int, ok bool) {
	standing, before := w.before(c)
	switch {
	case out.Err == nil, out.IsFinal, out.After > 0, w.isStale(c), stands(standing, out):
		return 0, before.most, false
	case out.IsWaiting:
		return before.waits, before.most, out.Delay == 0
	}
	return before.failures, before.most, true
}

// isStale reports whether the object of a call is gone meanwhile.
func (w *Work) isStale(c Call) bool {
	return c.Action == Delete && w.over != c.Object || c.Action != Delete && (w.over != nil || c.life != w.life)
}

// before returns the repetition that stands beside a call, nil for none, and the errors in a row before the call.
func (w *Work) before(c Call) (standing *retry, errors streak) {
	if c.IsRetry || w.retry == nil {
		return nil, c.streak
	}
	if w.retry.err == nil {
		return w.retry, c.streak
	}
	return w.retry, w.retry.streak
}

// stands reports whether the repetition of an earlier failure stays as it is, after another call with an outcome.
func stands(standing *retry, out Outcome) bool {
	return standing != nil && standing.err != nil && !out.IsFinal && out.After == 0 && out.Delay == 0
}

// Done notes how a call has ended. decision is about the number of Asks.
func (w *Work) Done(c Call, out Outcome, now time.Time, decision Decision) Verdict {
	w.runs = false
	if w.isStale(c) {
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
	w.memo = out.Memo
	if out.Err != nil {
		return w.fails(c, out, now, decision)
	}
	w.succeeds(c, out, now)
	return Verdict{}
}

// succeeds notes a success.
func (w *Work) succeeds(c Call, out Outcome, now time.Time) {
	w.failed = nil
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
			w.over, w.gone, w.memo = nil, false, nil
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

// fails notes an error.
func (w *Work) fails(c Call, out Outcome, now time.Time, decision Decision) Verdict {
	kept, before := w.before(c)
	if stands(kept, out) { // with the new error
		kept.err, kept.object = out.Err, c.Object
		if out.State != nil {
			kept.state = out.State
		}
		return Verdict{Failures: kept.failures, After: max(kept.due.Sub(now), 0)}
	}
	if kept != nil && kept.err != nil {
		kept = nil // the new error decides, and the failures count on
	}
	next := &retry{action: c.Action, object: c.Object, err: out.Err, state: out.State}
	next.failures, next.most = before.failures+1, decision.Most
	counted := next.failures
	switch {
	case out.IsFinal:
		decision = Decision{}
	case out.After > 0:
		decision, next.failures = Decision{Again: true, After: out.After}, before.failures
	case out.IsWaiting:
		decision.Again, next.failures, next.waits = true, before.failures, before.waits+1
		counted = before.failures
	}
	if out.Delay > 0 && out.After == 0 {
		decision.After = out.Delay
	}
	if decision.Again {
		next.due = now.Add(max(decision.After, 0))
		if kept != nil && kept.due.Before(next.due) {
			next.due = kept.due
		}
		w.retry, w.failed = next, nil
		return Verdict{Failures: counted, After: next.due.Sub(now)}
	}
	w.retry = kept
	if kept != nil { // the watcher has asked for another call
		w.failed = out.Err
		return Verdict{Failures: counted, After: max(kept.due.Sub(now), 0)}
	}
	if c.Action == Delete {
		w.over, w.gone, w.memo = nil, false, nil
	} else {
		w.failed = out.Err
	}
	return Verdict{Failures: counted, GivenUp: true}
}
