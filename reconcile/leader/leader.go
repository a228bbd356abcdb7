package leader

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Elector leads or waits for its turn. Its methods are safe for concurrent use.
type Elector struct {
	// lock is nil where nobody else can lead.
	lock     lock
	options  options
	identity string
	running  atomic.Bool
	current  atomic.Pointer[term]
	reporter reporter
}

// lock is where it is written down who leads. Its methods are called one at a time. What an error
// follows is unknown: nothing is written after a read that failed.
type lock interface {
	// take makes this replica the holder if there is none.
	take(ctx context.Context) (standing, error)
	// keep tells that this replica still is the holder.
	keep(ctx context.Context) (standing, error)
	// release ends that, and tells so, where another replica may follow before this process has ended.
	release(ctx context.Context) (bool, error)
	// rights are what a replica has to be granted.
	rights() string
	String() string
}

// standing is what a lock says.
type standing struct {
	// held tells that this replica is the holder.
	held bool
	// holder is who is, empty if that isn't known.
	holder string
	term   int64
	// vacant is when the lock can be taken from another holder, as far as is known; zero if that can't be told.
	vacant time.Time
}

// None returns an elector that always leads: its Run just works and its Transport lets everything pass.
// The zero Elector is the same (spec: watch 36).
func None() *Elector { return &Elector{} }

// Identity is the name of this replica in the lock, empty for None.
func (e *Elector) Identity() string { return e.identity }

// Leading tells whether this replica leads now. It may be over when the caller reads the answer: calls
// are guarded by Transport, not by this.
func (e *Elector) Leading() bool {
	if e.lock == nil {
		return e.running.Load()
	}
	t := e.current.Load()
	return t != nil && t.check() == nil
}

// Run waits until this replica leads and calls work, once. It returns when work has, with its error.
//
// The context of work ends with ctx, and when the leadership is lost: at the renew deadline without a
// renewal, or when another replica is seen in the lock. Then its cause is ErrLost, and Run returns that
// as soon as work has returned, together with the error of work unless that is only the end of the
// context. While work winds up after the end of ctx the leadership is kept; it is released when work has
// returned, also by a panic. If ctx ends before this replica leads, Run returns nil without having
// called work, once an attempt that is under way has its answer, after half the renew deadline at most.
//
// Run may be called again when it has returned, not before.
func (e *Elector) Run(ctx context.Context, work func(context.Context) error) error {
	if work == nil {
		return errors.New("leader: the work is nil")
	}
	if !e.running.CompareAndSwap(false, true) {
		return errors.New("leader: runs already")
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

// acquire waits until this replica is the holder. Without a term it is never going to be.
func (e *Elector) acquire(ctx context.Context) (*term, error) {
	for ctx.Err() == nil {
		start := time.Now()
		// One that is cut off might have taken the lock without anybody's knowing.
		got, err := e.attempt(context.WithoutCancel(ctx), e.lock.take)
		var never *impossibleError
		if errors.As(err, &never) {
			return nil, fmt.Errorf("%s: %w", e.lock, err)
		}
		e.reporter.candidate(ctx, got, err)
		deadline := start.Add(e.options.deadline)
		switch {
		case got.held && ctx.Err() != nil:
			e.release(ctx, deadline)
		case got.held && time.Now().Before(deadline):
			return newTerm(ctx, deadline, e.identity, got.term), nil
		case got.held: // The answer took too long to be of use; the next attempt is a renewal.
		default:
			pause(ctx, e.untilRetry(got))
		}
	}
	return nil, nil
}

// untilRetry is when a candidate looks again: at random, so that candidates don't come all at once, and as
// soon as the lock can be taken. It is twice as often as a holder renews, because how soon a lock that was
// released is taken depends on it.
func (e *Elector) untilRetry(seen standing) time.Duration {
	wait := jittered(e.options.retry / 2)
	if left := time.Until(seen.vacant); !seen.vacant.IsZero() && left < wait {
		wait = max(left, 0)
	}
	return wait
}

// lead works until the work or the term ends.
func (e *Elector) lead(t *term, work func(context.Context) error) (err error) {
	// What keeps the lock outlives the context of Run.
	detached := context.WithoutCancel(t.work)
	e.reporter.leading(detached)
	renewing, stop := context.WithCancel(detached)
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		e.renew(renewing, t)
	}()
	e.current.Store(t)
	defer func() {
		stop()
		<-renewed
		lost, deadline := t.end()
		e.current.Store(nil)
		if lost == nil {
			e.release(detached, deadline)
			return
		}
		e.reporter.lost(detached, lost)
		err = lostError(e.lock.String(), lost, err)
	}()
	return work(t.work)
}

// lostError is the error of a work that ended with err, whose lock was lost.
func lostError(lock string, lost, err error) error {
	lost = fmt.Errorf("%s: %w", lock, lost)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrLost) {
		return lost
	}
	return errors.Join(lost, err)
}

// renew keeps the lock until ctx or the term ends.
func (e *Elector) renew(ctx context.Context, t *term) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.calls, cancel)()
	for pause(ctx, e.options.retry) {
		start := time.Now()
		got, err := e.attempt(ctx, e.lock.keep)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			t.fail(err)
			e.reporter.trouble(ctx, err)
		case got.held:
			t.extend(start.Add(e.options.deadline))
			e.reporter.recovered(ctx)
		default:
			t.lose(fmt.Errorf("%w: %s", ErrLost, instead(got)))
		}
	}
}

func instead(seen standing) string {
	if seen.holder == "" {
		return "the lock was taken away"
	}
	return seen.holder + " leads"
}

// release is the end of a leadership that wasn't lost. Whoever follows needn't wait then.
func (e *Elector) release(ctx context.Context, deadline time.Time) {
	ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
	defer cancel()
	released := false
	_, err := e.attempt(ctx, func(ctx context.Context) (standing, error) {
		var err error
		released, err = e.lock.release(ctx)
		return standing{}, err
	})
	e.reporter.released(ctx, released, err)
}

// attempt calls do within its time limit.
func (e *Elector) attempt(ctx context.Context, do func(context.Context) (standing, error)) (got standing, err error) {
	err = e.options.try(ctx, func(ctx context.Context) (err error) {
		got, err = do(ctx)
		return err
	})
	if err != nil {
		got = standing{}
	}
	return got, err
}
