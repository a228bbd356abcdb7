package reconcile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
)

// Precondition makes an error that means: not yet. The reconcile stops here without being
// a failure, and is repeated when something changes, at the latest after the time that
// Recheck sets, or that request.RetryAfter asks for around it. The format is that of
// fmt.Errorf.
func Precondition(format string, args ...any) error {
	return &classified{class: classPrecondition, err: fmt.Errorf(format, args...)}
}

// Configuration makes an error that means: the resource, or what it refers to, is wrong and
// its author must mend it. The format is that of fmt.Errorf.
func Configuration(format string, args ...any) error {
	return &classified{class: classConfiguration, err: fmt.Errorf(format, args...)}
}

// class sorts errors by what the status says of them (spec: status 14). Later ones are
// more severe.
type class int

const (
	classNone class = iota
	classPrecondition
	classVerification
	classCluster
	classConfiguration
	classRollout
	classUnknown
)

type classified struct {
	class class
	err   error
}

func (e *classified) Error() string { return e.err.Error() }
func (e *classified) Unwrap() error { return e.err }

// classOf finds the class of an error by its type: the outermost that has one decides, and
// among joined errors the most severe (spec: reconcile mistake 3). errors.As would answer
// for whichever of them comes first.
func classOf(err error) class {
	switch e := err.(type) {
	case nil:
		return classNone
	case *classified:
		return e.class
	case *dag.PanicError:
		// What was panicked with counts, but to panic is no way to wait.
		if inner := classOf(e.Unwrap()); inner > classVerification {
			return inner
		}
		return classUnknown
	case *deploy.TerminatingError, *deploy.TimeoutError:
		return classVerification
	case *deploy.ForbiddenError:
		if e.Content {
			return classConfiguration // the same as *deploy.InvalidError: admission may say either
		}
		return classCluster
	case *deploy.InvalidManifestError, *deploy.InvalidError:
		return classConfiguration
	case *deploy.KindUnknownError, *deploy.NotFoundError, *deploy.ConflictError,
		*deploy.StaleError, *deploy.UnavailableError, *deploy.OwnedError:
		return classCluster
	case interface{ Unwrap() []error }:
		severest := classNone
		for _, joined := range e.Unwrap() {
			severest = max(severest, classOf(joined))
		}
		return severest
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return classOf(inner)
		}
	}
	return classUnknown
}

// isUnavailable tells whether the cluster, or a part of it, didn't answer.
func isUnavailable(err error) (after time.Duration, ok bool) {
	var unavailable *deploy.UnavailableError
	if errors.As(err, &unavailable) {
		return unavailable.RetryAfter, true
	}
	return 0, false
}

// Passing marks err as one that usually passes by itself at once, such as a helper that is started again: the reconcile is repeated, and
// nothing is told before it has come back several times. nil stays nil. request.RetryAfter around it says when to repeat.
func Passing(err error) error {
	if err == nil {
		return nil
	}
	return &passingError{err}
}

type passingError struct{ err error }

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

// IsPassing tells whether err is about nothing but what passes: each branch of it was marked by Passing, or says that somebody else has
// written meanwhile (*deploy.StaleError).
func IsPassing(err error) bool {
	switch e := err.(type) {
	case *deploy.StaleError, *passingError:
		return true
	case interface{ Unwrap() []error }:
		branches := e.Unwrap()
		return len(branches) > 0 && !slices.ContainsFunc(branches, func(branch error) bool { return !IsPassing(branch) })
	case interface{ Unwrap() error }:
		return IsPassing(e.Unwrap())
	}
	return false
}

// isTemporary tells whether err says nothing but that it is to be tried again: the cluster didn't answer, or it passes by itself.
func isTemporary(err error) bool {
	_, unavailable := isUnavailable(err)
	return unavailable || IsPassing(err)
}

// Verbatim marks err, which Setup, Build or Finalize answers, as one that says by itself where it comes from: nothing is put before its text. It
// is for those who pass on what another Reconciler has said of the resource, see Describe. nil stays nil.
func Verbatim(err error) error {
	if err == nil {
		return nil
	}
	return &verbatimError{err}
}

type verbatimError struct{ err error }

func (e *verbatimError) Error() string { return e.err.Error() }
func (e *verbatimError) Unwrap() error { return e.err }

// saidBy says of which method err is, unless err does.
func saidBy(method string, err error) error {
	if _, says := err.(*verbatimError); says {
		return err
	}
	return fmt.Errorf("%s: %w", method, err)
}

// panicsIn are the panics that err tells of.
func panicsIn(err error) (found []*dag.PanicError) {
	switch e := err.(type) {
	case *dag.PanicError:
		return []*dag.PanicError{e}
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			found = append(found, panicsIn(joined)...)
		}
	case interface{ Unwrap() error }:
		return panicsIn(e.Unwrap())
	}
	return found
}

// IsWaiting tells whether err says that something isn't there or isn't ready yet, as one that Precondition makes, and is no failure.
func IsWaiting(err error) bool { return err != nil && classOf(err) <= classVerification }
