package dag

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"
)

// job is what a worker is doing. The scheduler's mu guards all fields except gate, which only the job's worker changes.
type job struct {
	doing activity
	id    int32
	// gate is the index of the predicate that is being called. asked is the number of completed visits at the time of
	// the call.
	gate  atomic.Int32
	asked int
	// since is when the visit began, if there is an observer.
	since time.Time
}

type activity uint8

const (
	resting activity = iota
	asking
	visiting
)

// worker does one job after another until the run is over, or until a visit or predicate ends the goroutine.
func (s *scheduler) worker() {
	j := &job{}
	defer s.exited(j)
	// The unlock isn't deferred, because mu isn't held when a visit ends the goroutine.
	s.mu.Lock()
	s.jobs = append(s.jobs, j)
	for {
		s.catchUp()
		id, ask := s.take()
		if id == none {
			s.mu.Unlock()
			return
		}
		j.id = id
		if ask {
			s.pass(j)
		} else {
			s.call(j)
		}
	}
}

// call visits a node. The caller holds mu, which is released during the visit.
func (s *scheduler) call(j *job) {
	s.visiting++
	j.doing = visiting
	s.notifyStarted(j)
	s.catchUp()
	s.mu.Unlock()
	err := s.safeVisit(j.id)
	s.mu.Lock()
	j.doing = resting
	if !s.wasAbandoned() {
		s.finishVisit(j, err)
	}
}

func (s *scheduler) safeVisit(id int32) (err error) {
	defer recovered(&err)
	if !s.nodeTimeout.set {
		return s.visit(s.ctx, id)
	}
	return s.bounded(func(ctx context.Context) error { return s.visit(ctx, id) })
}

// catchUp delivers events to an observer that has no goroutine of its own. The caller holds mu, which is released
// during the delivery.
func (s *scheduler) catchUp() {
	if s.concurrency == 0 && s.observation != nil {
		s.mu.Unlock()
		s.flush()
		s.mu.Lock()
	}
}

// exited records the job of a worker whose goroutine was ended by runtime.Goexit.
func (s *scheduler) exited(j *job) {
	if j.doing == resting {
		return
	}
	s.recordExit(j, &GoexitError{Stack: debug.Stack()})
	// If calling is set, the observer has ended the goroutine.
	if s.concurrency == 0 && s.observation != nil && s.calling.IsZero() {
		s.flush()
	}
}

func (s *scheduler) recordExit(j *job, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs = slices.DeleteFunc(s.jobs, func(other *job) bool { return other == j })
	switch {
	case s.wasAbandoned():
	case j.doing == visiting:
		s.finishVisit(j, err)
	default:
		s.asking--
		s.refuse(j, err)
	}
}

// NodeTimeout ends the context of each visit, and of each call of a predicate, after d. NodeTimeout doesn't interrupt a
// visit or predicate that ignores its context. 0 or less is an [ErrInvalidOption].
//
// If the visit or predicate returns context.DeadlineExceeded after d, the error becomes a [*TimeoutError]. A visit or
// predicate that returns nil has succeeded, however late it returns.
func NodeTimeout(d time.Duration) Option { return func(c *config) { c.nodeTimeout = limit{d, true} } }

// limit is a duration that may be unset.
type limit struct {
	d   time.Duration
	set bool
}

// TimeoutError is the error of a node whose visit or predicate took longer than [NodeTimeout] allows.
type TimeoutError struct {
	// After is the duration of NodeTimeout.
	After time.Duration
	// Err is the error that the visit or predicate returned.
	Err error
}

// Error returns the duration and the error.
func (e *TimeoutError) Error() string { return fmt.Sprintf("timed out after %s: %v", e.After, e.Err) }

// Unwrap returns the error of the visit or predicate.
func (e *TimeoutError) Unwrap() error { return e.Err }

// bounded calls f with a context that ends after the timeout.
func (s *scheduler) bounded(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.nodeTimeout.d)
	defer cancel()
	err := f(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil && s.ctx.Err() == nil {
		return &TimeoutError{After: s.nodeTimeout.d, Err: err}
	}
	return err
}
