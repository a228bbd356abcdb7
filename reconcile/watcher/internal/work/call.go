package work

import "time"

// Call is one call of a watcher.
type Call struct {
	Action Action
	// Object is the object, for a deletion its last state. Old is the last state that was handled: it is nil for the
	// first call for an object and for a deletion.
	Old, Object *Object
	// Failures is the number of failures in a row before the call, zero for a call because of an event.
	Failures int
	// IsRetry: the call repeats an earlier one.
	IsRetry bool
	// State is what the call before returned, for a call that repeats it, otherwise nil.
	State any
	// Memo is the Memo of the last outcome for the object that was an error.
	Memo any

	// life is the number of the object.
	life int
	// streak counts the errors in a row before the call.
	streak
}

// Question asks whether a call that is to be repeated is dropped, because an event has come.
type Question struct {
	// Action and Object are those of the event.
	Action Action
	Object *Object
	// Retry and RetryObject are those of the call that is to be repeated, and Err is the error of the last try, nil if
	// the watcher has asked for the call.
	Retry       Action
	RetryObject *Object
	Err         error
}

// Over returns the call for the deletion of an earlier object, false if none is due.
func (w *Work) Over(now time.Time) (c Call, ok bool) {
	r := w.retry
	if w.over == nil || !w.gone && (r == nil || now.Before(r.due)) {
		return c, false
	}
	c = Call{Action: Delete, Object: w.over, Memo: w.memo}
	if w.gone {
		w.retry = nil
	} else {
		c.repeat(r)
	}
	w.gone, w.runs = false, true
	return c, true
}

// Question returns what is asked before Next: whether the event drops the call that is to be repeated. It returns false
// if nothing is asked: then no repetition is dropped. A resync never drops a call that the watcher has asked for.
func (w *Work) Question(object *Object, asOf uint64) (q Question, ok bool) {
	if w.over != nil || w.isBehind(object, asOf) || !w.mayDrop() {
		return q, false
	}
	return Question{w.news, object, w.retry.action, w.retry.object, w.retry.err}, true
}

func (w *Work) mayDrop() bool {
	return w.news != "" && w.retry != nil && (w.news != Resync || w.retry.err != nil)
}

// isBehind reports whether object was read before the event that is left to deliver. It drops an event whose state had
// a call already.
func (w *Work) isBehind(object *Object, asOf uint64) bool {
	version := object.GetResourceVersion()
	if w.news != Update || version == "" || version != w.version {
		return false
	}
	if w.newsAt > asOf {
		return true
	}
	w.news = ""
	return false
}

// Next returns the call for the present object, false if none is due. object was read after the event number asOf, and
// before the one after it. drops is the answer to the Question, false if there was none.
func (w *Work) Next(now time.Time, object *Object, asOf uint64, drops bool) (c Call, ok bool) {
	if w.over != nil || w.isBehind(object, asOf) {
		return c, false
	}
	r := w.retry
	isDue := r != nil && !now.Before(r.due)
	if w.news == "" && !isDue {
		return c, false
	}
	c = Call{Action: w.news, Old: w.old, Object: object, Memo: w.memo, life: w.life}
	switch {
	case w.news == "":
		c.Action = r.action
	case drops && w.mayDrop():
		w.retry, isDue = nil, false
	}
	if isDue {
		c.repeat(r)
	}
	switch {
	case !w.handled:
		c.Action, c.Old = Create, nil
	case c.Action == Create:
		c.Old = nil
	case c.Action == Resync && w.isChanged:
		c.Action = Update // there is a change that wasn't handled
	case c.Action == Resync, c.Old == nil:
		c.Old = object
	}
	if w.newsAt <= asOf {
		w.news = ""
	}
	w.called, w.runs, w.version = true, true, object.GetResourceVersion()
	return c, true
}

func (c *Call) repeat(r *retry) {
	c.IsRetry, c.Failures, c.State, c.streak = true, r.failures, r.state, r.streak
}
