package work

import (
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Object is an object as a View returns it. It is never changed.
type Object = unstructured.Unstructured

// Action is what a call is about.
type Action string

// The actions.
const (
	// Create: the watcher handles the object for the first time.
	Create Action = "CREATE"
	// Update: the object has changed since the watcher handled it.
	Update Action = "UPDATE"
	// Delete: the object is gone.
	Delete Action = "DELETE"
	// Resync: the object is handled again although nothing has happened.
	Resync Action = "RESYNC"
)

// Work is what one watcher has still to do for the object of one name. The zero value is an object that the watcher
// hasn't handled, and that no event has named. It isn't safe for concurrent use.
type Work struct {
	// over is the last state of an earlier object, which the watcher was called for: it has still to be called for the
	// deletion. Nothing is delivered of a new object of the name before that. gone: the call is due at once.
	over *Object
	gone bool

	// life is the number of the present object. called: the watcher was called for it. handled: with success.
	life            int
	called, handled bool
	// old is the last state that was handled, nil if it isn't known: then it is the state before the next event.
	// isChanged: an event has come since.
	old       *Object
	isChanged bool
	// version is the resourceVersion of the state of the last call.
	version string
	// news is what has happened to the present object since the last call, empty for nothing, and newsAt the number of
	// the event.
	news   Action
	newsAt uint64
	// retry is the call that is to be repeated, nil for none.
	retry *retry
	// failed is the error for which the watcher was given up, nil if it wasn't.
	failed error
	// memo is the Memo of the last outcome.
	memo any
	// runs: a call hasn't ended yet.
	runs bool
}

// retry is a call that is to be repeated at a time.
type retry struct {
	action Action
	object *Object
	// err is the error of the last call, nil if the watcher has asked for the call.
	err error
	streak
	due   time.Time
	state any
}

// streak counts errors in a row.
type streak struct {
	// failures is the number of failures in a row, and waits that of errors in a row that mean waiting.
	failures, waits int
	// most is the Most of the last decision.
	most int
}

// Settled returns the work of a watcher that has handled the present state of an object. version is its
// resourceVersion.
func Settled(version string) *Work { return &Work{called: true, handled: true, version: version} }

// Created notes a new object. number is the number of the event, and passes says whether the filter of the watcher
// passes it.
func (w *Work) Created(number uint64, passes bool) {
	w.reset()
	if w.over == nil {
		w.retry, w.memo = nil, nil
	}
	if passes {
		w.news, w.newsAt = Create, number
	}
}

// reset begins another life of the object.
func (w *Work) reset() {
	w.life++
	w.called, w.handled, w.old, w.isChanged, w.version, w.news, w.failed = false, false, nil, false, "", "", nil
}

// Changed notes a change of the present object from a state to another one, or that a resync is due, which is no
// change: then both states are one.
func (w *Work) Changed(number uint64, from, to *Object, action Action, passes bool) {
	if version := to.GetResourceVersion(); version != "" && version == w.version && action == Update {
		if w.news == Update { // the watcher was called with the state before the event came
			w.news = ""
		}
		return
	}
	if !passes {
		return
	}
	if w.handled && action == Update {
		w.isChanged = true
		if w.old == nil {
			w.old = from
		}
	}
	if w.news != Create && (action == Update || w.news == "") {
		w.news = action
	}
	w.newsAt = number
}

// Deleted notes that the present object is gone, with its last state. An object that the watcher wasn't called for is
// dropped.
func (w *Work) Deleted(last *Object, passes bool) {
	called := w.called
	w.reset()
	switch {
	case w.over != nil:
		w.gone = w.gone || last.GetUID() == w.over.GetUID() // the same event again
	case called && passes:
		w.over, w.gone = last, true
	default:
		w.memo = nil
	}
	if w.retry != nil && w.retry.action != Delete {
		w.retry = nil // whatever the policy: nothing else is delivered after a deletion
	}
}

// Left notes that the present object isn't seen any more. Only the deletion of an earlier object stays.
func (w *Work) Left() {
	w.reset()
	if w.over == nil {
		w.retry, w.memo = nil, nil
	}
}

// Hurry makes a call that is to be repeated due at once.
func (w *Work) Hurry(now time.Time) {
	if w.retry != nil {
		w.retry.due = now
	}
}

// IsIdle reports whether nothing is left to do, and everything has succeeded.
func (w *Work) IsIdle() bool {
	return !w.runs && w.over == nil && w.news == "" && w.retry == nil && w.failed == nil && w.handled
}

// IsEmpty reports whether nothing is left to do for an object that is gone.
func (w *Work) IsEmpty() bool { return !w.runs && w.over == nil }

// IsOver reports whether the deletion of an earlier object is left to handle.
func (w *Work) IsOver() bool { return w.over != nil }

// Version returns the resourceVersion of the state of the last call.
func (w *Work) Version() string { return w.version }

// Err returns the error of the last call, which is to be repeated or was given up, nil for none.
func (w *Work) Err() error {
	if w.retry != nil && w.retry.err != nil {
		return w.retry.err
	}
	return w.failed
}

// Due returns when the next call is due. It returns false if none is due until an event comes. isThere says whether
// there is a present object.
func (w *Work) Due(now time.Time, isThere bool) (at time.Time, ok bool) {
	switch {
	case w.gone, w.over == nil && w.news != "" && isThere:
		return now, true
	case w.retry != nil && (w.over != nil || isThere):
		return w.retry.due, true
	}
	return at, false
}
