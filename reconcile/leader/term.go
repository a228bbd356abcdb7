package leader

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/operkit/operkit/reconcile/internal/trigger"
)

var (
	// ErrLost means that another replica leads or may lead. It is the cause with which the context of work ends, and
	// Run returns it. A program then ends, or calls Run again.
	ErrLost = errors.New("leadership lost")
	// ErrNotLeading is the error of a call that Transport refuses.
	ErrNotLeading = errors.New("this replica doesn't lead")
)

// Term is one period in which this replica leads.
type Term struct {
	// Holder is the identity under which this replica leads.
	Holder string
	// Number counts the changes of the leader, so that writes of a later term can be distinguished from writes of an
	// earlier term. It starts again when the lock was deleted, and is 0 for locks without a count.
	Number int64
	// Lost is closed when the leadership is lost, even if that happens while the work winds up after the end of its
	// context. It is nil if the leadership can't be lost.
	Lost <-chan struct{}
}

type termKey struct{}

// WithTerm returns a context that belongs to a term. Use it if you elect a leader by other means: an engine of package
// watch cancels its reconciles when the term is lost.
func WithTerm(ctx context.Context, t Term) context.Context {
	return context.WithValue(ctx, termKey{}, t)
}

// TermOf returns the term of ctx, which is the context of work or derived from it. For other contexts it returns false.
// context.WithoutCancel keeps the term.
func TermOf(ctx context.Context) (Term, bool) {
	t, ok := ctx.Value(termKey{}).(Term)
	return t, ok
}

// term is a Term while it lasts. It ends at its deadline, even if nothing runs that could notice.
type term struct {
	// work ends when the term or the context of Run ends, calls when the term ends.
	work, calls context.Context
	endWork     context.CancelCauseFunc
	endCalls    context.CancelCauseFunc

	mu       sync.Mutex
	deadline time.Time
	watchdog *time.Timer
	// failure is the last error of a renewal since the last success.
	failure error
	lost    error
	lostC   chan struct{}
}

// newTerm begins a term that ends at deadline unless it is extended.
func newTerm(ctx context.Context, deadline time.Time, shown Term) *term {
	t := &term{deadline: deadline, lostC: make(chan struct{})}
	shown.Lost = t.lostC
	ctx = WithTerm(ctx, shown)
	t.work, t.endWork = context.WithCancelCause(ctx)
	t.calls, t.endCalls = context.WithCancelCause(context.WithoutCancel(ctx))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchdog = time.AfterFunc(time.Until(deadline), func() { _ = t.check() })
	return t
}

// check returns why the term is over, nil while it lasts. It ends a term whose deadline has passed, so that a process
// that was frozen notices that with its first call, before its timers fire.
func (t *term) check() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.checkLocked()
}

func (t *term) checkLocked() error {
	if t.calls.Err() == nil && !time.Now().Before(t.deadline) {
		cause := fmt.Errorf("%w: the renew deadline has passed", ErrLost)
		if t.failure != nil {
			cause = fmt.Errorf("%w: %w", cause, t.failure)
		}
		t.loseLocked(cause)
	}
	return context.Cause(t.calls)
}

// renewed records the result of a renewal. If the renewal succeeded, deadline is the new deadline. A term that is over
// stays over, even if the lock is still ours.
func (t *term) renewed(deadline time.Time, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case err != nil && !errors.Is(err, ErrLost):
		t.failure = err
	case t.checkLocked() != nil:
	case err != nil:
		t.loseLocked(err)
	default:
		t.failure, t.deadline = nil, deadline
		t.watchdog.Reset(time.Until(deadline))
	}
}

func (t *term) loseLocked(cause error) {
	t.lost = cause
	t.watchdog.Stop()
	t.endCalls(cause)
	t.endWork(cause)
	close(t.lostC)
}

// end ends a term whose work has returned. It returns why the term was lost, nil if it wasn't lost, and the time until
// which the lock is certainly ours.
func (t *term) end() (lost error, deadline time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.checkLocked()
	t.watchdog.Stop()
	t.endCalls(ErrNotLeading)
	t.endWork(context.Canceled)
	return t.lost, t.deadline
}

// hold calls work while keep renews the lock, and note is called after each renewal. Once work has returned, also by a
// panic, end is called with the reason why the lock was lost (nil if it wasn't), the time until which it is certainly
// ours, and the error of work.
func (o options) hold(t *term, keep func(context.Context) error, note func(context.Context, error), work func(context.Context) error,
	end func(lost error, deadline time.Time, err error) error) (err error) {
	// Renewals outlive the context of Run: the lock is kept while work winds up.
	renewing, stop := context.WithCancel(context.WithoutCancel(t.work))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		o.renew(renewing, t, keep, note)
	}()
	defer func() {
		stop()
		<-renewed
		lost, deadline := t.end()
		err = end(lost, deadline, err)
	}()
	return work(t.work)
}

// renew keeps the lock until ctx or the term ends.
func (o options) renew(ctx context.Context, t *term, keep func(context.Context) error, note func(context.Context, error)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.calls, cancel)()
	for trigger.Sleep(ctx, o.retry) {
		sent := time.Now()
		err := o.try(ctx, keep)
		if ctx.Err() != nil {
			return
		}
		t.renewed(sent.Add(o.deadline), err)
		note(ctx, err)
	}
}

// lostError returns the error of a work that ended with err after its lock was lost.
func lostError(lock string, lost, err error) error {
	lost = fmt.Errorf("%s: %w", lock, lost)
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, ErrLost) {
		return lost
	}
	return errors.Join(lost, err)
}

// jittered returns d and up to a fifth more.
func jittered(d time.Duration) time.Duration { return d + rand.N(d/5+1) }
