package reconcile

import (
	"fmt"

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

// isUnknownKind reports whether the cluster doesn't serve a kind.
func isUnknownKind(err error) bool { return failure.Is[*deploy.KindUnknownError](err) }
