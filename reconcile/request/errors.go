package request

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
)

// Error wraps an error and says what it means for the resource whose reconcile returned it. The functions of this
// package make the usual Errors. errors.As finds only the outermost Error. Resolve evaluates a whole error, including
// wrapped and joined Errors.
type Error struct {
	// Err is the error itself. It must not be nil.
	Err error
	// Class decides what the status reports; empty means the class of Err.
	Class status.ErrorClass
	// Permanent errors aren't retried: the resource is left alone until an event brings it to reconcile.
	Permanent bool
	// RetryAfter is the time until the next try; zero leaves it to the backoff.
	RetryAfter time.Duration
	// Passing errors usually go away soon. The reconcile is repeated, and the status doesn't report these errors before
	// they have come back several times.
	Passing bool
	// Reconciles with quiet errors are retried like others, but these errors aren't logged before they have come back
	// several times.
	Quiet bool
	// Advanced errors restart the backoff, because the reconcile got further than any earlier reconcile that failed. A
	// reconciler must not return such errors without end.
	Advanced bool
	// Verbatim errors already name the method that they come from: no prefix is added to their text.
	Verbatim bool
}

// Error returns the text of Err, and the time until the next try.
func (e *Error) Error() string {
	if e.RetryAfter <= 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("%v (again in %s)", e.Err, e.RetryAfter)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Precondition returns an error that means: not yet. The reconcile ends there without being a failure. It is repeated
// when something changes, or after a time that RetryAfter around it sets. The arguments are as for fmt.Errorf.
func Precondition(format string, args ...any) error {
	return &Error{Class: status.ErrorPrecondition, Err: fmt.Errorf(format, args...)}
}

// Configuration returns an error that means: the resource, or what it refers to, is wrong, and its author must correct
// it. The arguments are as for fmt.Errorf.
func Configuration(format string, args ...any) error {
	return &Error{Class: status.ErrorConfig, Err: fmt.Errorf(format, args...)}
}

// Permanent marks err as an error that isn't retried: the resource is left alone until an event brings it to reconcile,
// such as a change of the resource or of an object that it owns. nil stays nil.
func Permanent(err error) error { return marked(err, Error{Permanent: true}) }

// RetryAfter marks err as an error that is retried after a given time instead of after the backoff. A time that isn't
// positive changes nothing. nil stays nil.
func RetryAfter(after time.Duration, err error) error {
	return marked(err, Error{RetryAfter: max(after, 0)})
}

// Passing marks err as an error that usually goes away soon, such as an error of a helper process that is being
// restarted. The reconcile is repeated, and the status doesn't report the error before it has come back several times.
// A RetryAfter around the error sets the time of the retry. nil stays nil.
func Passing(err error) error { return marked(err, Error{Passing: true}) }

func marked(err error, mark Error) error {
	if err == nil {
		return nil
	}
	mark.Err = err
	return &mark
}

// ClassOf returns the class of err, empty for nil: the outermost error that has a class decides, and among joined
// errors the most severe class.
func ClassOf(err error) status.ErrorClass { return Resolve(err).Class }

// IsWaiting reports whether err is no failure, and only means that something doesn't exist or isn't ready yet.
func IsWaiting(err error) bool {
	class := ClassOf(err)
	return class == status.ErrorPrecondition || class == status.ErrorVerification
}

// IsPermanent reports whether err was marked by Permanent, see Resolve.
func IsPermanent(err error) bool { return Resolve(err).Permanent }

// RetryTime returns the time that RetryAfter asked for, see Resolve.
func RetryTime(err error) (after time.Duration, ok bool) {
	after = Resolve(err).RetryAfter
	return after, after > 0
}

// Severity returns a number that is higher for a more severe class. An unknown class counts as status.ErrorUnknown.
func Severity(class status.ErrorClass) int {
	if at := slices.Index(classes, class); at >= 0 {
		return at
	}
	return len(classes) - 1
}

// classes in ascending order of severity.
var classes = []status.ErrorClass{
	"", status.ErrorPrecondition, status.ErrorVerification, status.ErrorCluster, status.ErrorConfig, status.ErrorRollout, status.ErrorUnknown,
}

// Resolve returns what err as a whole means; the zero value for nil. Of several marks on one error the outermost
// counts.
//
// Joined errors have the most severe class among them. They are permanent, or passing, if all of them are. They are
// advanced if one of them is. They are never quiet. If all errors that aren't permanent have a RetryAfter, the shortest
// one applies.
//
// The errors of package deploy have a class, and errors about conflicts and stale reads have a RetryAfter. A panic has
// the class of its value, but never counts as waiting.
func Resolve(err error) Error {
	if err == nil {
		return Error{}
	}
	var all Error
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		all = combined(e.Unwrap())
	case interface{ Unwrap() error }:
		all = Resolve(e.Unwrap())
	}
	all.Err, all.Verbatim = err, false
	switch e := err.(type) {
	case *Error:
		all.apply(e)
	case *dag.PanicError:
		if Severity(all.Class) <= Severity(status.ErrorVerification) {
			all.Class = status.ErrorUnknown
		}
	case *deploy.TerminatingError, *deploy.TimeoutError:
		all.Class = status.ErrorVerification
	case *deploy.InvalidManifestError, *deploy.InvalidError:
		all.Class = status.ErrorConfig
	case *deploy.ForbiddenError:
		all.Class = status.ErrorCluster
		if e.Content {
			all.Class = status.ErrorConfig // admission may refuse content with this error or *deploy.InvalidError
		}
	case *deploy.StaleError:
		all.Class, all.Passing = status.ErrorCluster, true
	case *deploy.ConflictError:
		all.Class, all.RetryAfter = status.ErrorCluster, max(e.RetryAfter, 0)
	case *deploy.KindUnknownError, *deploy.NotFoundError, *deploy.UnavailableError, *deploy.OwnedError:
		all.Class = status.ErrorCluster
	}
	all.Class = cmp.Or(all.Class, status.ErrorUnknown)
	return all
}

// apply overrides the marks of e by the marks of an outer error.
func (e *Error) apply(outer *Error) {
	e.Class = cmp.Or(outer.Class, e.Class)
	switch {
	case outer.Permanent:
		e.Permanent, e.RetryAfter = true, 0
	case outer.RetryAfter > 0:
		e.Permanent, e.RetryAfter = false, outer.RetryAfter
	}
	e.Passing = e.Passing || outer.Passing
	e.Quiet = e.Quiet || outer.Quiet
	e.Advanced = e.Advanced || outer.Advanced
	e.Verbatim = outer.Verbatim
}

// combined resolves joined errors.
func combined(errs []error) Error {
	all := Error{Permanent: len(errs) > 0, Passing: len(errs) > 0}
	backoff := false
	for _, err := range errs {
		one := Resolve(err)
		if Severity(one.Class) > Severity(all.Class) {
			all.Class = one.Class
		}
		all.Permanent = all.Permanent && one.Permanent
		all.Passing = all.Passing && one.Passing
		all.Advanced = all.Advanced || one.Advanced
		switch {
		case one.Permanent:
		case one.RetryAfter == 0:
			backoff = true
		case all.RetryAfter == 0 || one.RetryAfter < all.RetryAfter:
			all.RetryAfter = one.RetryAfter
		}
	}
	if backoff {
		all.RetryAfter = 0
	}
	return all
}

// Panics returns the panics in err.
func Panics(err error) (found []*dag.PanicError) {
	switch e := err.(type) {
	case *dag.PanicError:
		found = append(found, e)
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			found = append(found, Panics(joined)...)
		}
	case interface{ Unwrap() error }:
		found = Panics(e.Unwrap())
	}
	return found
}
