package dag

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// NodeTimeout bounds the time of each visit, and of each asking of a predicate: the context
// that it gets ends after d. One that doesn't heed its context isn't cut short. Zero and less is
// an [ErrInvalidOption].
//
// When the error that it returns then says that a deadline passed, it becomes a [*TimeoutError].
// One that returns nil, late as it may be, has succeeded.
func NodeTimeout(d time.Duration) Option { return func(c *config) { c.nodeTimeout = limit{d, true} } }

// limit is a duration that may be unset.
type limit struct {
	d   time.Duration
	set bool
}

// TimeoutError is the error of a node whose visit, or predicate, ran into [NodeTimeout].
type TimeoutError struct {
	// After is the time that it had.
	After time.Duration
	// Err is what it returned.
	Err error
}

// Error says how long it had.
func (e *TimeoutError) Error() string { return fmt.Sprintf("timed out after %s: %v", e.After, e.Err) }

// Unwrap is what the visit or predicate returned.
func (e *TimeoutError) Unwrap() error { return e.Err }

// bounded calls f with a context of the node's own.
func (s *scheduler) bounded(f func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.nodeTimeout.d)
	defer cancel()
	err := f(ctx)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil && s.ctx.Err() == nil {
		return &TimeoutError{After: s.nodeTimeout.d, Err: err}
	}
	return err
}
