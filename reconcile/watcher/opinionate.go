package watcher

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
// that ran last may be called again: functions must be idempotent. An object that is deleted while no process lives
// never reaches Delete if the last process ended between Add and the finalizer. InProgress holds it from before Add,
// for one more write. Without Delete no finalizer is added, and then Add is called in each process.
//
// Add the Watcher by the option Add. A Watcher of your own may wrap it, or several of them, and call its methods. It
// needs a method Unwrap that returns the Watcher, or the slice of Watchers, that it wraps, so that its finalizers are
// known:
//
//	func (w timed) Unwrap() watcher.Watcher[Bucket] { return w.inner }
func Opinionate[T any](f Funcs[T], opts ...Option) Watcher[T] {
	s := newSettings(inOpinionate, "", opts)
	s.rules.Needed = f.Delete != nil
	if inner, err := opinionatedIn(f.wrapped); err != nil || len(inner) > 0 {
		s.fail("opinionate: the watcher of Wrap has a finalizer of its own: add it by the option Add, or wrap the watcher that it is made of")
	}
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
	a := attemptOf(ctx)
	switch {
	case a == nil || a.isInside:
		return request.Permanent(errors.New("opinionate: called outside of a watcher: add the watcher by the option Add, and pass its context on"))
	case !slices.Contains(a.member.finalizers, o.rules.Final):
		return request.Permanent(fmt.Errorf("opinionate: finalizer %q: watcher %q doesn't declare it: give it a method Unwrap that returns the watcher that it wraps", o.rules.Final, a.member.name))
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

// opinionatedIn returns the watchers of Opinionate that a watcher is, or wraps.
func opinionatedIn[T any](w Watcher[T]) (found []*opinionated[T], err error) {
	var wrapped []Watcher[T]
	switch w := w.(type) {
	case *opinionated[T]:
		return []*opinionated[T]{w}, nil
	case interface{ Unwrap() Watcher[T] }:
		err = failure.Guard(func() error { wrapped = []Watcher[T]{w.Unwrap()}; return nil })
	case interface{ Unwrap() []Watcher[T] }:
		err = failure.Guard(func() error { wrapped = w.Unwrap(); return nil })
	}
	for _, inner := range wrapped {
		more, wrong := opinionatedIn(inner)
		found, err = append(found, more...), errors.Join(err, wrong)
	}
	return found, err
}
