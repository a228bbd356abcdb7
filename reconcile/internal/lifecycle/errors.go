package lifecycle

import (
	"errors"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// Unavailable reports whether the cluster, or a part of it, didn't answer, and returns the time until the next try.
func Unavailable(err error) (after time.Duration, ok bool) {
	unavailable, ok := errors.AsType[*deploy.UnavailableError](err)
	if !ok {
		return 0, false
	}
	return unavailable.RetryAfter, true
}

// Temporary reports whether err usually goes away when the reconcile is repeated.
func Temporary(err error) bool {
	_, unavailable := Unavailable(err)
	return unavailable || request.Resolve(err).Passing
}

// Passes reports whether no failure in err needs a change of the resource: each failure usually goes away when the
// reconcile is repeated, or is about fields that others keep setting, which are tried again after a time. Waiting is no
// failure.
func Passes(err error) bool { return passes(err, false) }

// passes is Passes. timed: an error around err sets the time of the next attempt.
func passes(err error, timed bool) bool {
	if request.IsWaiting(err) || Temporary(err) {
		return true
	}
	_, sets := request.RetryTime(err)
	timed = timed || sets
	switch e := err.(type) {
	case *deploy.ConflictError:
		return e.Fought && timed
	case interface{ Unwrap() []error }:
		return !slices.ContainsFunc(e.Unwrap(), func(joined error) bool { return !passes(joined, timed) })
	case interface{ Unwrap() error }:
		return passes(e.Unwrap(), timed)
	}
	return false
}

// Fought reports whether others keep setting fields of an object.
func Fought(err error) bool {
	conflict, ok := errors.AsType[*deploy.ConflictError](err)
	return ok && conflict.Fought
}
