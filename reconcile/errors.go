package reconcile

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
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

// isUnavailable reports whether the cluster, or a part of it, didn't answer, and returns when to try again.
func isUnavailable(err error) (after time.Duration, ok bool) {
	var unavailable *deploy.UnavailableError
	if errors.As(err, &unavailable) {
		return unavailable.RetryAfter, true
	}
	return 0, false
}

// isTemporary reports whether err usually goes away when the reconcile is repeated.
func isTemporary(err error) bool {
	_, unavailable := isUnavailable(err)
	return unavailable || request.Resolve(err).Passing
}

// isUnknownKind reports whether the cluster doesn't serve a kind.
func isUnknownKind(err error) bool {
	var unknown *deploy.KindUnknownError
	return errors.As(err, &unknown)
}

// isFought reports whether others keep setting fields of an object.
func isFought(err error) bool {
	var conflict *deploy.ConflictError
	return errors.As(err, &conflict) && conflict.Fought
}

// guarded calls a user's method and turns its panic into an error.
func guarded(method func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return method()
}
