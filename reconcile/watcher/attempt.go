package watcher

import (
	"context"
	"errors"

	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// attempt is one call of a watcher.
type attempt struct {
	*pass
	member *member
	call   work.Call
	// action is what the user's function is called for: with a finalizer it differs from that of the call.
	action Action
	// object is the object as it is now. written is its last state in which the attempt has changed nothing but
	// finalizers and the status since the call, nil if it has written none. isGone: it was gone at a write.
	object, written *work.Object
	isGone          bool
	// memos are kept for the next call, if this one fails.
	memos memos
	// isInside: a function of an opinionated watcher runs.
	isInside bool
}

// attemptKey is the key of the attempt in the context of a call.
type attemptKey struct{}

// attemptOf returns the attempt of the context of a call, nil if it is none.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// errNilObject is the error of a call for an event without an object.
var errNilObject = request.Permanent(errors.New("nil object: the event has none"))

// run calls the watcher.
func (a *attempt) run(ctx context.Context) (out work.Outcome) {
	a.action = a.call.Action
	a.memos, _ = a.call.Memo.(memos)
	ctx = context.WithValue(ctx, attemptKey{}, a)
	err := failure.Guard(func() error {
		if a.call.Object == nil || a.call.Action == Updated && a.call.Old == nil {
			return errNilObject
		}
		out = a.member.call(ctx, a)
		return nil
	})
	if err != nil {
		out = work.Outcome{Err: err}
	}
	out.Object = a.written
	if len(a.memos) > 0 {
		out.Memo = a.memos
	}
	if err := failure.Guard(func() error { meaning(&out); return nil }); err != nil {
		out.Err = err // the error of a watcher may panic when it is looked at
	}
	return out
}

// meaning sets what the error of an outcome means.
func meaning(out *work.Outcome) {
	if out.Err != nil {
		m := request.Resolve(out.Err)
		out.IsFinal, out.Delay = m.Permanent, m.RetryAfter
		out.IsWaiting = !m.Permanent && request.IsWaiting(out.Err)
	}
}

// undo notes that the call was interrupted.
func (a *attempt) undo(w *work.Work) {
	a.objects.mu.Lock()
	defer a.objects.mu.Unlock()
	w.Undo(a.call, a.Now())
}

// record notes how the call has ended.
func (a *attempt) record(w *work.Work, out work.Outcome) work.Verdict {
	decision := a.decide(w, out)
	a.objects.mu.Lock()
	defer a.objects.mu.Unlock()
	return w.Done(a.call, out, a.Now(), decision)
}
