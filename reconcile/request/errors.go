package request

import (
	"errors"
	"fmt"
	"time"
)

// Permanent marks err as one that trying again won't heal: the object is left alone until
// something brings it to reconcile again: it, or something it owns, changes, or somebody forces it. nil stays nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent tells whether err, or one that it wraps, was marked by Permanent. Joined
// errors are permanent when all of them are: the others may still heal. Of several marks on
// one error the outermost counts.
func IsPermanent(err error) bool { return marksOf(err).permanent }

// RetryAfter marks err as one to try again after a given time instead of after the backoff.
// A time that isn't positive leaves it with the backoff. nil stays nil.
func RetryAfter(after time.Duration, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{after, err}
}

// RetryTime returns the time that RetryAfter asked for. For joined errors it is the shortest,
// if all that aren't permanent have one. Of several marks on one error the outermost counts.
func RetryTime(err error) (after time.Duration, ok bool) {
	marks := marksOf(err)
	return marks.after, marks.timed
}

// Quiet marks err as one that usually passes by itself, such as somebody else having been
// quicker: it is tried again like any other, but isn't worth a line in the log before it has
// come back several times. nil stays nil.
func Quiet(err error) error {
	if err == nil {
		return nil
	}
	return &quietError{err}
}

// IsQuiet tells whether err, or one that it wraps, was marked by Quiet. Joined errors aren't
// quiet: each branch would have to be.
func IsQuiet(err error) bool {
	for err != nil {
		if _, ok := err.(*quietError); ok {
			return true
		}
		err = errors.Unwrap(err)
	}
	return false
}

// Advanced marks err as that of a reconcile that got further than those before it which failed: the backoff begins anew. Who marks errors sees
// to it that this can't happen for ever. nil stays nil.
func Advanced(err error) error {
	if err == nil {
		return nil
	}
	return &advancedError{err}
}

// IsAdvanced tells whether err, or one that it wraps, was marked by Advanced. Of joined errors one suffices.
func IsAdvanced(err error) bool {
	var advanced *advancedError
	return errors.As(err, &advanced)
}

type advancedError struct{ err error }

func (e *advancedError) Error() string { return e.err.Error() }
func (e *advancedError) Unwrap() error { return e.err }

type quietError struct{ err error }

func (e *quietError) Error() string { return e.err.Error() }
func (e *quietError) Unwrap() error { return e.err }

// marks is what Permanent and RetryAfter say of an error.
type marks struct {
	permanent bool
	timed     bool
	after     time.Duration
}

func marksOf(err error) marks {
	switch e := err.(type) {
	case *permanentError:
		return marks{permanent: true}
	case *retryError:
		return marks{timed: e.after > 0, after: max(e.after, 0)}
	case interface{ Unwrap() []error }:
		return joined(e.Unwrap())
	}
	if inner := errors.Unwrap(err); inner != nil {
		return marksOf(inner)
	}
	return marks{}
}

func joined(errs []error) marks {
	all := marks{permanent: len(errs) > 0}
	unmarked := false
	for _, err := range errs {
		m := marksOf(err)
		switch {
		case m.permanent:
			continue
		case !m.timed:
			unmarked = true
		case !all.timed || m.after < all.after:
			all.timed, all.after = true, m.after
		}
		all.permanent = false
	}
	if unmarked {
		return marks{}
	}
	return all
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }
func (e *permanentError) Unwrap() error { return e.err }

type retryError struct {
	after time.Duration
	err   error
}

func (e *retryError) Error() string {
	if e.after <= 0 {
		return e.err.Error()
	}
	return fmt.Sprintf("%v (again in %s)", e.err, e.after)
}
func (e *retryError) Unwrap() error { return e.err }
