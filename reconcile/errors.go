package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/internal/failure"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// mistake gives err the error class of mistakes in the description of components. err may be nil.
func mistake(err error) error {
	if err == nil {
		return nil
	}
	return &request.Error{Class: status.ErrorRollout, Err: err}
}

// Precondition returns an error that makes the resource wait, for Setup and every other method of a controller. It is
// the same as request.Precondition.
func Precondition(format string, args ...any) error { return request.Precondition(format, args...) }

// attributed puts the name of the method that returned err before its text, unless err is Verbatim.
func attributed(method string, err error) error {
	if e, ok := err.(*request.Error); ok && e.Verbatim {
		return err
	}
	return fmt.Errorf("%s: %w", method, err)
}

// isUnavailable reports whether the cluster, or a part of it, didn't answer, and returns the time until the next try.
func isUnavailable(err error) (after time.Duration, ok bool) {
	unavailable, ok := errors.AsType[*deploy.UnavailableError](err)
	if !ok {
		return 0, false
	}
	return unavailable.RetryAfter, true
}

// isTemporary reports whether err usually goes away when the reconcile is repeated.
func isTemporary(err error) bool {
	_, unavailable := isUnavailable(err)
	return unavailable || request.Resolve(err).Passing
}

// isUnknownKind reports whether the cluster doesn't serve a kind.
func isUnknownKind(err error) bool { return failure.Is[*deploy.KindUnknownError](err) }

// passes reports whether no failure in err needs a change of the resource: each failure usually goes away when the
// reconcile is repeated, or is about fields that others keep setting, which are tried again after a time. Waiting is no
// failure. timed: an error around err sets that time.
func passes(err error, timed bool) bool {
	if request.IsWaiting(err) || isTemporary(err) {
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

// isFought reports whether others keep setting fields of an object.
func isFought(err error) bool {
	conflict, ok := errors.AsType[*deploy.ConflictError](err)
	return ok && conflict.Fought
}
