package leader

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Term is one time of leading.
type Term struct {
	// Holder is the identity under which this replica leads.
	Holder string
	// Number counts the times that the leadership has changed hands, so that of two writes the one of the
	// later term can be told. It starts again when the lock was deleted, and is 0 where nothing counts.
	Number int64
	// Lost is closed when the leadership is lost, also while the work winds up after the end of
	// its context. It is nil where leadership can't be lost.
	Lost <-chan struct{}
}

type termKey struct{}

// TermOf returns the term that ctx, of a work or made from it, belongs to; false outside of one. It is
// kept by context.WithoutCancel.
func TermOf(ctx context.Context) (Term, bool) {
	t, ok := ctx.Value(termKey{}).(Term)
	return t, ok
}

// term is a Term while it lasts. It is over when its deadline is, whoever may run or not to notice that.
type term struct {
	// work ends with the term and with the context of Run; calls with the term alone.
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

// newTerm is a term that ends at deadline unless it is extended.
func newTerm(ctx context.Context, deadline time.Time, holder string, number int64) *term {
	t := &term{deadline: deadline, lostC: make(chan struct{})}
	ctx = context.WithValue(ctx, termKey{}, Term{Holder: holder, Number: number, Lost: t.lostC})
	t.work, t.endWork = context.WithCancelCause(ctx)
	t.calls, t.endCalls = context.WithCancelCause(context.WithoutCancel(ctx))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.watchdog = time.AfterFunc(time.Until(deadline), func() { _ = t.check() })
	return t
}

// check tells whether the term still lasts. It ends one whose deadline is over, so that a process that was
// frozen notices by its first call, before its timers.
func (t *term) check() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.checkLocked()
}

func (t *term) checkLocked() error {
	if t.calls.Err() == nil && !time.Now().Before(t.deadline) {
		t.loseLocked(t.overdue())
	}
	return context.Cause(t.calls)
}

func (t *term) overdue() error {
	if t.failure != nil {
		return fmt.Errorf("%w: the renew deadline is over: %w", ErrLost, t.failure)
	}
	return fmt.Errorf("%w: the renew deadline is over", ErrLost)
}

// extend moves the deadline of a term that lasts. One that is over stays over, even if the lock is still ours.
func (t *term) extend(deadline time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkLocked() != nil {
		return
	}
	t.failure, t.deadline = nil, deadline
	t.watchdog.Reset(time.Until(deadline))
}

// fail notes why a renewal failed, for the error if none succeeds in time.
func (t *term) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failure = err
}

// lose ends the term because of what was seen in the lock.
func (t *term) lose(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.checkLocked() == nil {
		t.loseLocked(cause)
	}
}

func (t *term) loseLocked(cause error) {
	t.lost = cause
	t.watchdog.Stop()
	t.endCalls(cause)
	t.endWork(cause)
	close(t.lostC)
}

// end is the end of a term whose work has ended. It returns why it was lost, nil if it wasn't, and the
// time until which the lock is certainly ours.
func (t *term) end() (lost error, deadline time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = t.checkLocked()
	t.watchdog.Stop()
	t.endCalls(ErrNotLeading)
	t.endWork(context.Canceled)
	return t.lost, t.deadline
}
