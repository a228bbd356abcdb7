package wire

import (
	"errors"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/request"
)

// Problem is an error on its way: what it says, what it means for the resource, and its type where callers branch on that.
type Problem struct {
	Text string `cbor:"1,keyasint"`
	// Class is its reconcile.ErrorClass, Type the name of a type of package deploy, Ref what that is about.
	Class string `cbor:"2,keyasint,omitempty"`
	Type  string `cbor:"3,keyasint,omitempty"`
	Ref   *Ref   `cbor:"4,keyasint,omitempty"`
	// RetryAfter is when to try again, in nanoseconds.
	RetryAfter int64 `cbor:"5,keyasint,omitempty"`
	Permanent  bool  `cbor:"6,keyasint,omitempty"`
	Quiet      bool  `cbor:"7,keyasint,omitempty"`
	// Stack is where it panicked.
	Stack string `cbor:"8,keyasint,omitempty"`
}

// NewProblem is an error as it is sent, nil for nil.
func NewProblem(err error) *Problem {
	if err == nil {
		return nil
	}
	p := &Problem{Text: err.Error(), Class: string(reconcile.ClassOf(err)), Permanent: request.IsPermanent(err), Quiet: request.IsQuiet(err)}
	after, _ := request.RetryTime(err)
	p.RetryAfter = int64(after)
	var panicked *dag.PanicError
	if errors.As(err, &panicked) {
		p.Stack = string(panicked.Stack)
	}
	for name, t := range types {
		if ref, ok := t.find(err); ok {
			p.Type, p.Ref = name, NewRef(ref)
		}
	}
	return p
}

// Err is the error that was sent, nil for none.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	said := &saidError{text: p.Text}
	if t, known := types[p.Type]; known {
		said.cause = t.make(p.Ref.Ref(), errors.New(p.Text))
	}
	if p.Stack != "" {
		said.cause = &dag.PanicError{Value: p.Text, Stack: []byte(p.Stack)}
	}
	var err error = said
	if reconcile.ClassOf(err) != reconcile.ErrorClass(p.Class) {
		err = reconcile.WithClass(reconcile.ErrorClass(p.Class), err)
	}
	if p.Quiet {
		err = request.Quiet(err)
	}
	switch {
	case p.Permanent:
		return request.Permanent(err)
	case p.RetryAfter > 0:
		return &againError{request.RetryAfter(time.Duration(p.RetryAfter), err), p.Text}
	}
	return err
}

// saidError says what the other side said.
type saidError struct {
	text  string
	cause error
}

func (e *saidError) Error() string { return e.text }
func (e *saidError) Unwrap() error { return e.cause }

// againError: the text has the time already.
type againError struct {
	error
	text string
}

func (e *againError) Error() string { return e.text }
func (e *againError) Unwrap() error { return e.error }

// typed is one type of error that is told by its name.
type typed struct {
	find func(err error) (deploy.Ref, bool)
	make func(ref deploy.Ref, err error) error
}

// types are those of which the other side can make use.
var types = map[string]typed{
	"KindUnknown": typeOf(func(e *deploy.KindUnknownError) deploy.Ref { return deploy.Ref{Kind: e.Kind} },
		func(ref deploy.Ref, _ error) *deploy.KindUnknownError {
			return &deploy.KindUnknownError{Kind: ref.Kind}
		}),
	"NotFound": typeOf(func(e *deploy.NotFoundError) deploy.Ref { return e.Ref },
		func(ref deploy.Ref, err error) *deploy.NotFoundError {
			return &deploy.NotFoundError{Ref: ref, Err: err}
		}),
	"Forbidden": typeOf(func(e *deploy.ForbiddenError) deploy.Ref { return deploy.Ref{Namespace: e.Namespace, Name: e.Name} },
		func(ref deploy.Ref, err error) *deploy.ForbiddenError {
			return &deploy.ForbiddenError{Namespace: ref.Namespace, Name: ref.Name, Err: err}
		}),
	"Stale": typeOf(func(e *deploy.StaleError) deploy.Ref { return e.Ref },
		func(ref deploy.Ref, err error) *deploy.StaleError { return &deploy.StaleError{Ref: ref, Err: err} }),
	"Unavailable": typeOf(func(e *deploy.UnavailableError) deploy.Ref { return e.Ref },
		func(ref deploy.Ref, err error) *deploy.UnavailableError {
			return &deploy.UnavailableError{Ref: ref, Err: err}
		}),
	"Timeout": typeOf(func(e *deploy.TimeoutError) deploy.Ref { return e.Ref },
		func(ref deploy.Ref, err error) *deploy.TimeoutError { return &deploy.TimeoutError{Ref: ref, Err: err} }),
	"Owned": typeOf(func(e *deploy.OwnedError) deploy.Ref { return e.Ref },
		func(ref deploy.Ref, _ error) *deploy.OwnedError { return &deploy.OwnedError{Ref: ref} }),
}

func typeOf[E error](ref func(E) deploy.Ref, remake func(deploy.Ref, error) E) typed {
	return typed{
		find: func(err error) (deploy.Ref, bool) {
			var found E
			if !errors.As(err, &found) {
				return deploy.Ref{}, false
			}
			return ref(found), true
		},
		make: func(ref deploy.Ref, err error) error { return remake(ref, err) },
	}
}
