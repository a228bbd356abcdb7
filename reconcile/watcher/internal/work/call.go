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

	// life is the number of the object. called: the watcher was called for it before.
	life   int
	called bool
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

// Next returns the call for the present object, false if none is due. object was read after the event number asOf, and
// before the one after it. drop answers questions; nil drops everything.
func (w *Work) Next(now time.Time, object *Object, asOf uint64, drop func(q Question) bool) (c Call, ok bool) {
	if w.over != nil {
		return c, false
	}
	r := w.retry
	isDue := r != nil && !now.Before(r.due)
	if version := object.GetResourceVersion(); w.news == Update && version != "" && version == w.version {
		if w.told > asOf {
			return c, false // the object was read before the event
		}
		w.news = "" // the watcher was called with the state already
	}
	if w.news == "" && !isDue {
		return c, false
	}
	c = Call{Action: w.news, Old: w.old, Object: object, Memo: w.memo, life: w.life, called: w.called}
	switch {
	case w.news == "":
		c.Action = r.action
	case r != nil && w.drops(object, drop):
		r, isDue = nil, false
		w.retry = nil
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
	if w.told <= asOf {
		w.news = ""
	}
	w.called, w.runs, w.version = true, true, object.GetResourceVersion()
	return c, true
}

func (c *Call) repeat(r *retry) {
	c.IsRetry, c.Failures, c.State = true, r.failures, r.state
}

// drops reports whether the event drops the call that is to be repeated. A resync never drops a call that the watcher
// has asked for.
func (w *Work) drops(object *Object, drop func(q Question) bool) bool {
	if w.news == Resync && w.retry.err == nil {
		return false
	}
	if drop == nil {
		return true
	}
	action := w.news
	return drop(Question{action, object, w.retry.action, w.retry.object, w.retry.err})
}
