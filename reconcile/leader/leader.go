package leader

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/internal/trigger"
)

// Elector takes part in a leader election. Its methods are safe for concurrent use.
type Elector struct {
	// lock is nil if no other replica can lead (None).
	lock     lock
	options  options
	identity string
	running  atomic.Bool
	current  atomic.Pointer[term]
	reporter reporter
}

// lock records which replica leads. Its methods are called one at a time. After an error the state of the lock is
// unknown: nothing is written after a failed read.
type lock interface {
	// take makes this replica the holder if there is none.
	take(ctx context.Context) (standing, error)
	// keep renews the lock if this replica is still the holder.
	keep(ctx context.Context) (standing, error)
	// release gives the lock up. It reports whether another replica can take it before this process has ended.
	release(ctx context.Context) (bool, error)
	// rights names the rights that the service account needs.
	rights() string
	String() string
}

// standing is the state of a lock.
type standing struct {
	// held: this replica is the holder.
	held bool
	// holder is the identity of the holder, empty if it isn't known.
	holder string
	term   int64
	// vacant is when the lock can be taken from another holder; zero if that isn't known.
	vacant time.Time
}

// newElector checks the arguments that all locks need. replica is the name of this replica without its random end.
func newElector(what string, port deploy.Port, name string, opts []Option,
	newLock func(ref deploy.Ref, o options, replica string) (lock, string)) (*Elector, error) {
	o, err := newOptions(opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	if port == nil {
		return nil, fmt.Errorf("%s: nil port", what)
	}
	namespace, base, err := o.place(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	replica, err := o.replica()
	if err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", what, namespace, base, err)
	}
	lock, identity := newLock(deploy.Ref{Namespace: namespace, Name: base}, o, replica)
	return &Elector{lock: lock, options: o, identity: identity, reporter: newReporter(o, lock, identity)}, nil
}

// None returns an elector that always leads: Run calls work immediately, and Transport passes every request. The zero
// Elector is the same.
func None() *Elector { return &Elector{} }

// Identity returns the name of this replica in the lock, empty for None.
func (e *Elector) Identity() string { return e.identity }

// Leading reports whether this replica leads now. The result may be outdated when the caller acts on it: Transport
// guards calls, Leading doesn't.
func (e *Elector) Leading() bool {
	if e.lock == nil {
		return e.running.Load()
	}
	t := e.current.Load()
	return t != nil && t.check() == nil
}

// Run waits until this replica leads and calls work, once. It returns when work has returned, with the error of work.
//
// The context of work ends with ctx, and when the leadership is lost: at the renew deadline without a renewal, or when
// another replica is seen in the lock. When the leadership is lost, the cause of the context is ErrLost. Run returns
// ErrLost as soon as work has returned, joined with the error of work, unless that error only says that the context has
// ended. While work winds up after the end of ctx, the leadership is kept. It is released when work has returned or
// panicked. If ctx ends before this replica leads, Run returns nil and doesn't call work. It first waits for the answer
// to an attempt that is under way, for half the renew deadline at most.
//
// Run may be called again after it has returned, but not earlier.
func (e *Elector) Run(ctx context.Context, work func(context.Context) error) error {
	if work == nil {
		return errors.New("leader: nil work")
	}
	if !e.running.CompareAndSwap(false, true) {
		return errors.New("leader: Run is running already")
	}
	defer e.running.Store(false)
	if e.lock == nil {
		return work(ctx)
	}
	t, err := e.acquire(ctx)
	if t == nil {
		return err
	}
	return e.lead(t, work)
}

// acquire waits until this replica is the holder. It returns no term when ctx ends or when waiting is useless.
func (e *Elector) acquire(ctx context.Context) (*term, error) {
	for ctx.Err() == nil {
		start := time.Now()
		// An attempt that is cut off might have taken the lock unnoticed.
		got, err := attempt(context.WithoutCancel(ctx), e.options, e.lock.take)
		if failure.Is[*impossibleError](err) {
			return nil, fmt.Errorf("%s: %w", e.lock, err)
		}
		e.reporter.candidate(ctx, got, err)
		deadline := start.Add(e.options.deadline)
		switch {
		case got.held && ctx.Err() != nil:
			e.release(ctx, deadline)
		case got.held && time.Now().Before(deadline):
			return newTerm(ctx, deadline, Term{Holder: e.identity, Number: got.term}), nil
		case got.held: // The answer came too late; the next attempt is a renewal.
		default:
			trigger.Sleep(ctx, e.untilRetry(got))
		}
	}
	return nil, nil
}

// untilRetry returns the time until a candidate looks again. The time is random, so that candidates don't come all at
// once, but ends when the lock can be taken. A candidate looks twice as often as a holder renews, so that a released
// lock is taken soon.
func (e *Elector) untilRetry(seen standing) time.Duration {
	wait := jittered(e.options.retry / 2)
	if left := time.Until(seen.vacant); !seen.vacant.IsZero() && left < wait {
		wait = max(left, 0)
	}
	return wait
}

// lead works until the work or the term ends.
func (e *Elector) lead(t *term, work func(context.Context) error) (err error) {
	ctx := context.WithoutCancel(t.work)
	e.reporter.leading(ctx)
	e.current.Store(t)
	defer e.current.Store(nil)
	keep := func(ctx context.Context) error {
		got, err := e.lock.keep(ctx)
		switch {
		case err != nil || got.held:
			return err
		case got.holder == "":
			return fmt.Errorf("%w: the lock was taken away", ErrLost)
		}
		return fmt.Errorf("%w: %s leads", ErrLost, got.holder)
	}
	return e.options.hold(t, keep, e.reporter.renewal, work, func(lost error, deadline time.Time, err error) error {
		if lost == nil {
			e.release(ctx, deadline)
			return err
		}
		e.reporter.lost(ctx, lost)
		return lostError(e.lock.String(), lost, err)
	})
}

// release ends a leadership that wasn't lost, so that the next leader needn't wait.
func (e *Elector) release(ctx context.Context, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	released, err := attempt(ctx, e.options, e.lock.release)
	e.reporter.released(ctx, released, err)
}
