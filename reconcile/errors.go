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

// mistake makes err, which may be nil, one of how the components are described.
func mistake(err error) error {
	if err == nil {
		return nil
	}
	return &request.Error{Class: status.ErrorRollout, Err: err}
}

// attributed puts the method that returned err before its text, unless err says by itself where it comes from.
func attributed(method string, err error) error {
	if e, ok := err.(*request.Error); ok && e.Verbatim {
		return err
	}
	return fmt.Errorf("%s: %w", method, err)
}

// isUnavailable reports whether the cluster, or a part of it, didn't answer, and when to ask again.
func isUnavailable(err error) (after time.Duration, ok bool) {
	var unavailable *deploy.UnavailableError
	if errors.As(err, &unavailable) {
		return unavailable.RetryAfter, true
	}
	return 0, false
}

// isTemporary reports whether err says nothing but that it is to be tried again.
func isTemporary(err error) bool {
	_, unavailable := isUnavailable(err)
	return unavailable || request.Resolve(err).Passing
}

// isUnknownKind reports whether the cluster doesn't serve a kind.
func isUnknownKind(err error) bool {
	var unknown *deploy.KindUnknownError
	return errors.As(err, &unknown)
}

// isFought reports whether err says that others set what an object is to have again and again.
func isFought(err error) bool {
	var conflict *deploy.ConflictError
	return errors.As(err, &conflict) && conflict.Fought
}

// guarded calls a method of the user's and turns its panic into an error, so that the status reports it.
func guarded(method func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return method()
}
