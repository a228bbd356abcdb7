package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/dag"
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
	"github.com/operkit/operkit/status"
)

// Problem is an error as it is sent: its text, what it means for the resource (request.Error), and its type if callers
// test for the type.
type Problem struct {
	Text string `cbor:"1,keyasint"`
	// Class is the status.ErrorClass of the error. Type is the name of an error type of package deploy, and Ref the
	// object of that error.
	Class string `cbor:"2,keyasint,omitempty"`
	Type  string `cbor:"3,keyasint,omitempty"`
	Ref   *Ref   `cbor:"4,keyasint,omitempty"`
	// RetryAfter is the time until the retry, in nanoseconds.
	RetryAfter int64 `cbor:"5,keyasint,omitempty"`
	Permanent  bool  `cbor:"6,keyasint,omitempty"`
	Quiet      bool  `cbor:"7,keyasint,omitempty"`
	// Stack is the stack of a panic.
	Stack string `cbor:"8,keyasint,omitempty"`
	// Passing is the mark of request.Passing.
	Passing bool `cbor:"9,keyasint,omitempty"`
	// ClusterRetryAfter is RetryAfter of a deploy.UnavailableError, in nanoseconds.
	ClusterRetryAfter int64 `cbor:"10,keyasint,omitempty"`
}

// NewProblem converts an error for sending, nil for nil.
func NewProblem(err error) (p *Problem) {
	if err == nil {
		return nil
	}
	defer func() {
		if value := recover(); value != nil { // methods of the error panic
			p = &Problem{Text: fmt.Sprintf("an error of type %T: its methods panic: %v", err, value), Class: string(status.ErrorUnknown)}
		}
	}()
	means := request.Resolve(err)
	p = &Problem{
		Text: err.Error(), Class: string(means.Class), Permanent: means.Permanent, Quiet: means.Quiet, Passing: means.Passing,
		RetryAfter: int64(means.RetryAfter),
	}
	if panicked, ok := errors.AsType[*dag.PanicError](err); ok {
		p.Stack = string(panicked.Stack)
	}
	for _, t := range types {
		if t.find(err, p) {
			p.Type = t.name
			break
		}
	}
	return p
}

// Err returns the error that was sent, nil for nil.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	return &sentError{p.Text, &request.Error{ // p.Text has the time that request.Error adds already
		Class: status.ErrorClass(p.Class), Permanent: p.Permanent, Passing: p.Passing, Quiet: p.Quiet,
		RetryAfter: time.Duration(p.RetryAfter), Err: &sentError{p.Text, p.cause()},
	}}
}

// cause returns the error of the type that was sent, nil if there is none.
func (p *Problem) cause() error {
	if p.Stack != "" {
		return &dag.PanicError{Value: p.Text, Stack: []byte(p.Stack)}
	}
	for _, t := range types {
		if t.name == p.Type {
			return t.make(p)
		}
	}
	return nil
}

// sentError is an error of the other side, with its text.
type sentError struct {
	text  string
	cause error
}

func (e *sentError) Error() string { return e.text }
func (e *sentError) Unwrap() error { return e.cause }

// typed is an error type that is sent by name.
type typed struct {
	name string
	// find reports whether err wraps an error of the type, and records its details in p.
	find func(err error, p *Problem) bool
	make func(p *Problem) error
}

// types are the error types that the other side tests for. If an error wraps errors of several types, the first type in
// this list is sent.
var types = []typed{
	{
		"KindUnknown",
		finding(func(e *deploy.KindUnknownError, p *Problem) { p.Ref = NewRef(deploy.Ref{Kind: e.Kind}) }),
		func(p *Problem) error { return &deploy.KindUnknownError{Kind: p.Ref.Ref().Kind} },
	},
	{
		"NotFound",
		finding(func(e *deploy.NotFoundError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.NotFoundError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)} },
	},
	{
		"Forbidden",
		finding(func(e *deploy.ForbiddenError, p *Problem) {
			p.Ref = NewRef(deploy.Ref{Namespace: e.Namespace, Name: e.Name})
		}),
		func(p *Problem) error {
			ref := p.Ref.Ref()
			return &deploy.ForbiddenError{Namespace: ref.Namespace, Name: ref.Name, Err: errors.New(p.Text)}
		},
	},
	{
		"Unavailable",
		finding(func(e *deploy.UnavailableError, p *Problem) {
			p.Ref, p.ClusterRetryAfter = NewRef(e.Ref), int64(e.RetryAfter)
		}),
		func(p *Problem) error {
			return &deploy.UnavailableError{Ref: p.Ref.Ref(), RetryAfter: time.Duration(p.ClusterRetryAfter), Err: errors.New(p.Text)}
		},
	},
	{
		"Timeout",
		finding(func(e *deploy.TimeoutError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.TimeoutError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)} },
	},
	{
		"Owned",
		finding(func(e *deploy.OwnedError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error { return &deploy.OwnedError{Ref: p.Ref.Ref()} },
	},
	{
		"Stale",
		finding(func(e *deploy.StaleError, p *Problem) { p.Ref = NewRef(e.Ref) }),
		func(p *Problem) error {
			if !p.Passing {
				return nil // nil: the error was joined with an error that isn't temporary
			}
			return &deploy.StaleError{Ref: p.Ref.Ref(), Err: errors.New(p.Text)}
		},
	},
}

func finding[E error](tell func(E, *Problem)) func(error, *Problem) bool {
	return func(err error, p *Problem) bool {
		found, ok := errors.AsType[E](err)
		if ok {
			tell(found, p)
		}
		return ok
	}
}
