package watcher

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/watcher/internal/hold"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// unwritten is the memo of a call that has succeeded, while a write of its finalizers has not. isFree: the object was
// added, and nothing holds it yet: when it is deleted, only the memo leads to Delete. after and state are those of the
// call's outcome.
type unwritten struct {
	action     Action
	generation int64
	object     *work.Object
	isFree     bool
	after      time.Duration
	state      any
}

// covers reports whether a call has been made for the object as it is now.
func (u *unwritten) covers(action Action, object *work.Object) bool {
	return u != nil && u.action == action && (action == Deleted || u.generation == object.GetGeneration()) && u.object.GetUID() == object.GetUID() &&
		(u.generation > 0 || action == Deleted || hold.IsSame(u.object, object))
}

// memos are what is unwritten, by the finalizer. They are never changed.
type memos map[string]*unwritten

// with returns the memos with that of a finalizer, nil for none.
func (m memos) with(name string, memo *unwritten) memos {
	next := maps.Clone(m)
	switch {
	case memo == nil:
		delete(next, name)
	case next == nil:
		next = memos{name: memo}
	default:
		next[name] = memo
	}
	return next
}

// function calls the user's function for an action.
type function func(ctx context.Context, a *attempt, action Action) work.Outcome

// withFinalizer makes one step of a watcher with a finalizer: the writes of finalizers, and the call of the user's
// function between them.
func (a *attempt) withFinalizer(ctx context.Context, rules hold.Rules, call function) work.Outcome {
	out, memo := a.step(ctx, rules, a.memos[rules.Final], func(ctx context.Context, a *attempt, action Action) work.Outcome {
		a.action, a.isInside = action, true
		defer func() { a.isInside = false }()
		return call(ctx, a, action)
	})
	a.memos = a.memos.with(rules.Final, memo)
	return out
}

// step makes the step. It returns the memo for the next call, which is memo if the step wasn't made.
func (a *attempt) step(ctx context.Context, rules hold.Rules, memo *unwritten, call function) (work.Outcome, *unwritten) {
	plan := rules.Decide(a.call, a.object)
	if plan.Before == hold.Begin {
		if err := a.write(ctx, rules.Names, hold.Begin); err != nil {
			return work.Outcome{Err: err}, memo
		}
		plan = rules.Decide(a.call, a.object)
	}
	switch {
	case memo != nil && memo.isFree && memo.object.GetUID() == a.object.GetUID() && a.isLost(rules):
		return a.free(ctx, call)
	case plan.Before == hold.Begin:
		return work.Outcome{}, nil // it is gone, or being deleted without one of the finalizers
	case plan.Again:
		if err := a.write(ctx, rules.Names, plan.Before); err != nil {
			return work.Outcome{Err: err}, memo
		}
		return work.Outcome{After: soon}, nil
	}
	out := work.Outcome{}
	switch {
	case plan.Call == "":
	case memo.covers(plan.Call, a.object):
		out.After, out.State, a.action = memo.after, memo.state, plan.Call
	default:
		out = call(ctx, a, plan.Call)
		if out.Err != nil || plan.Call == Deleted && out.After > 0 {
			return out, memo
		}
	}
	if plan.After == hold.Keep {
		return out, nil
	}
	handled := a.object
	if err := a.write(ctx, rules.Names, plan.After); err != nil {
		memo = &unwritten{plan.Call, handled.GetGeneration(), handled, plan.After == hold.Finish, out.After, out.State}
		return work.Outcome{Err: err, State: out.State}, memo
	}
	if plan.After == hold.Finish && a.isLost(rules) {
		a.object = handled
		return a.free(ctx, call)
	}
	return out, nil
}

// isLost reports whether the object is gone, or being deleted, and nothing holds it.
func (a *attempt) isLost(rules hold.Rules) bool {
	return a.call.Action == Deleted || a.isGone || a.object.GetDeletionTimestamp() != nil && !rules.IsHeld(a.object)
}

// free calls the function for the deletion of an object that was added, and then deleted before the finalizer held it.
func (a *attempt) free(ctx context.Context, call function) (work.Outcome, *unwritten) {
	lost := &unwritten{object: a.object, isFree: true}
	out := call(ctx, a, Deleted)
	if out.Err != nil || out.After > 0 {
		return out, lost
	}
	return out, nil
}

// write changes the finalizers of the object, which is then the object as it is in the cluster. Only the own entries
// change, and only if nobody else has changed the object since it was read.
func (a *attempt) write(ctx context.Context, names hold.Names, write hold.Write) error {
	base := ""
	result, err := a.Manager.Change(ctx, a.ref, func(current *work.Object) (*work.Object, error) {
		base = current.GetResourceVersion()
		if current.GetUID() != a.object.GetUID() {
			return nil, nil
		}
		finalizers, changed := names.Finalizers(current, write)
		if !changed {
			return nil, nil
		}
		next := current.DeepCopy()
		next.SetFinalizers(slices.Clone(finalizers))
		return next, nil
	})
	switch {
	case failure.Is[*deploy.NotFoundError](err):
		err, a.isGone = nil, true
	case err != nil:
		return &FinalizerError{Finalizer: names.Final, Err: err}
	case result.Object == nil || result.Object.GetUID() != a.object.GetUID():
		a.isGone = true
	case names.Lacks(result.Object, write):
		a.object = result.Object
		return &FinalizerError{Finalizer: names.Final, Err: errUnkept}
	default:
		a.wrote(base, result.Object)
	}
	return err
}

// wrote notes the object after a write of the attempt. base is the resourceVersion before it: another one than the
// attempt knows means a change of others, which the watcher hasn't handled.
func (a *attempt) wrote(base string, object *work.Object) {
	if base == a.object.GetResourceVersion() {
		a.written = object
	}
	a.object = object
}

// errUnkept is the error of a write that the cluster has accepted and not stored.
var errUnkept = errors.New("the cluster hasn't stored the change: look for a webhook that changes the finalizers")

// FinalizerError is the error of a write of a finalizer.
type FinalizerError struct {
	// Finalizer is its name, and Err is the error of package deploy.
	Finalizer string
	Err       error
}

// Error returns the text of the error.
func (e *FinalizerError) Error() string {
	return "can't write the finalizer of a watcher: " + e.Finalizer + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *FinalizerError) Unwrap() error { return e.Err }
