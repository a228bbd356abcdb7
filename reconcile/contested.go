package reconcile

import (
	"errors"
	"time"

	"github.com/operkit/operkit/deploy"
)

// whenFree returns when the objects that another process applies under the same name are written again, the soonest of
// several; zero if err is about anything else too.
func whenFree(err error) (after time.Duration) {
	switch e := err.(type) {
	case *deploy.ConflictError:
		return e.RetryAfter
	case interface{ Unwrap() []error }:
		for i, joined := range e.Unwrap() {
			one := whenFree(joined)
			if one <= 0 {
				return 0
			}
			if i == 0 || one < after {
				after = one
			}
		}
	case interface{ Unwrap() error }:
		return whenFree(e.Unwrap())
	}
	return after
}

// isFought reports whether err says that others set what an object is to have again and again.
func isFought(err error) bool {
	var conflict *deploy.ConflictError
	return errors.As(err, &conflict) && conflict.Fought
}

// Contested returns how many objects of all resources somebody else sets again and again, as of their last reconciles,
// so that they are left alone for a while, see deploy.ConflictError. A dry run counts none. It may be called at any
// time.
func (r *Reconciler) Contested() int {
	r.tallied.mu.Lock()
	defer r.tallied.mu.Unlock()
	return r.tallied.contested
}

// contested counts the objects that others fight for.
func (s *Session) contested() (count int32) {
	for _, c := range s.components {
		for _, result := range c.results {
			if isFought(result.Err) {
				count++
			}
		}
	}
	return count + int32(len(s.regrown.fought(s.place(), s.now())))
}
