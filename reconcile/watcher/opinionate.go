package watcher

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/reconcile/watcher/internal/hold"
	"github.com/operkit/operkit/reconcile/watcher/internal/work"
)

// Opinionate returns a Watcher that holds its objects by a finalizer, so that no deletion is missed, and that knows by
// it which objects were added. It needs the option Finalizer; InProgress and AnyChange are others.
//
//   - Add is called for an object without the finalizer, which is added when Add has succeeded.
//   - Sync is called for an object with the finalizer that the process sees for the first time, and for a resync.
//   - Update is called for an object with the finalizer that has a new generation.
//   - Delete is called when the deletion of an object with the finalizer has begun. When it has succeeded, the
//     finalizer is removed.
//
// If a write of a finalizer fails, only the write is repeated, as long as the process lives. After a crash the function
// that ran last may be called again: functions must be idempotent. Without Delete no finalizer is added, and then Add
// is called in each process.
//
// Add the Watcher by the option Add. A Watcher of your own may wrap it and call its methods; then the command release
// doesn't find the finalizer.
func Opinionate[T any](f Funcs[T], opts ...Option) Watcher[T] {
	s := newSettings(inOpinionate, "", opts)
	s.rules.Needed = f.Delete != nil
	return &opinionated[T]{f, s.rules, s.errs}
}

type opinionated[T any] struct {
	funcs Funcs[T]
	rules hold.Rules
	errs  []error
}

// Add implements Watcher.
func (o *opinionated[T]) Add(ctx context.Context, _ *T) error { return o.step(ctx) }

// Update implements Watcher.
func (o *opinionated[T]) Update(ctx context.Context, _, _ *T) error { return o.step(ctx) }

// Delete implements Watcher.
func (o *opinionated[T]) Delete(ctx context.Context, _ *T) error { return o.step(ctx) }

func (o *opinionated[T]) step(ctx context.Context) error {
	a, ok := ctx.Value(attemptKey{}).(*attempt)
	if !ok {
		return request.Permanent(errors.New("opinionate: called outside of a reconcile: add the watcher by the option Add, and pass its context on"))
	}
	return a.withFinalizer(ctx, o.rules, o.call).Err
}

// call calls the function for an action.
func (o *opinionated[T]) call(ctx context.Context, a *attempt, action Action) work.Outcome {
	object, err := decode[T](a.object)
	if err != nil {
		return work.Outcome{Err: err}
	}
	switch action {
	case Created:
		err = one(ctx, o.funcs.Add, object)
	case Deleted:
		err = one(ctx, o.funcs.Delete, object)
	case Resynced:
		err = one(ctx, o.funcs.Sync, object)
	case Updated:
		if o.funcs.Update == nil {
			break
		}
		var old *T
		if old, err = decode[T](a.call.Old); err == nil {
			err = o.funcs.Update(ctx, old, object)
		}
	}
	return work.Outcome{Err: err}
}

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
func (u unwritten) covers(action Action, object *work.Object) bool {
	return u.action == action && (action == Deleted || u.generation == object.GetGeneration()) && u.object.GetUID() == object.GetUID() &&
		(u.generation > 0 || action == Deleted || hold.IsSame(u.object, object))
}

// withFinalizer makes one step of a watcher with a finalizer: the writes of finalizers, and the call of the user's
// function between them.
func (a *attempt) withFinalizer(ctx context.Context, rules hold.Rules, call func(ctx context.Context, a *attempt, action Action) work.Outcome) work.Outcome {
	memo, _ := a.call.Memo.(unwritten)
	a.memo = a.call.Memo
	plan := rules.Decide(a.call, a.object)
	if plan.Before == hold.Begin {
		if err := a.write(ctx, rules.Names, hold.Begin); err != nil {
			return a.noted(work.Outcome{Err: err})
		}
		plan = rules.Decide(a.call, a.object)
	}
	switch {
	case memo.isFree && memo.object.GetUID() == a.object.GetUID() && a.isLost(rules):
		return a.free(ctx, call)
	case plan.Before == hold.Begin:
		return a.noted(work.Outcome{}) // it is gone, or being deleted without one of the finalizers
	case plan.Again:
		if err := a.write(ctx, rules.Names, plan.Before); err != nil {
			return a.noted(work.Outcome{Err: err})
		}
		return a.noted(work.Outcome{After: soon})
	}
	out := work.Outcome{}
	switch {
	case plan.Call == "":
	case memo.covers(plan.Call, a.object):
		out.After, out.State = memo.after, memo.state
	default:
		out = call(ctx, a, plan.Call)
		if out.Err != nil || plan.Call == Deleted && out.After > 0 {
			return a.noted(out)
		}
	}
	if plan.After == hold.Keep {
		return a.noted(out)
	}
	handled := a.object
	if err := a.write(ctx, rules.Names, plan.After); err != nil {
		a.memo = unwritten{plan.Call, handled.GetGeneration(), handled, plan.After == hold.Finish, out.After, out.State}
		return a.noted(work.Outcome{Err: err, State: out.State})
	}
	if plan.After == hold.Finish && a.isLost(rules) {
		a.object = handled
		return a.free(ctx, call)
	}
	return a.noted(out)
}

// isLost reports whether the object is gone, or being deleted, and nothing holds it.
func (a *attempt) isLost(rules hold.Rules) bool {
	return a.call.Action == Deleted || a.isGone || a.object.GetDeletionTimestamp() != nil && !rules.IsHeld(a.object)
}

// free calls the function for the deletion of an object that was added, and then deleted before the finalizer held it.
func (a *attempt) free(ctx context.Context, call func(ctx context.Context, a *attempt, action Action) work.Outcome) work.Outcome {
	out := call(ctx, a, Deleted)
	if out.Err != nil || out.After > 0 {
		a.memo = unwritten{object: a.object, isFree: true}
	}
	return a.noted(out)
}

// noted returns the outcome with what the turn has noted.
func (a *attempt) noted(out work.Outcome) work.Outcome {
	out.Memo, out.Object = a.memo, a.written
	return out
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
		if base == a.object.GetResourceVersion() {
			a.written = result.Object // otherwise there is a change of others that the watcher hasn't handled
		}
		a.object = result.Object
	}
	return err
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
