package wire

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/dag"
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
	// Passing is the mark of reconcile.Passing.
	Passing bool `cbor:"9,keyasint,omitempty"`
	// Busy is when a cluster that is unavailable wants to be asked again, in nanoseconds.
	Busy int64 `cbor:"10,keyasint,omitempty"`
}

// NewProblem is an error as it is sent, nil for nil.
func NewProblem(err error) (p *Problem) {
	if err == nil {
		return nil
	}
	defer func() {
		if value := recover(); value != nil { // the error is somebody's own type, with methods that panic
			p = &Problem{Text: fmt.Sprintf("an error of type %T can't be told: its methods panic: %v", err, value), Class: string(reconcile.OfOperator)}
		}
	}()
	p = &Problem{
		Text: err.Error(), Class: string(reconcile.ClassOf(err)),
		Permanent: request.IsPermanent(err), Quiet: request.IsQuiet(err), Passing: reconcile.IsPassing(err),
	}
	after, _ := request.RetryTime(err)
	p.RetryAfter = int64(after)
	var panicked *dag.PanicError
	if errors.As(err, &panicked) {
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

// Err is the error that was sent, nil for none.
func (p *Problem) Err() error {
	if p == nil {
		return nil
	}
	var err error = &saidError{p.Text, p.cause()}
	if reconcile.ClassOf(err) != reconcile.ErrorClass(p.Class) {
		err = reconcile.WithClass(reconcile.ErrorClass(p.Class), err)
	}
	if p.Passing && !reconcile.IsPassing(err) {
		err = reconcile.Passing(err)
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

// cause is the error of the type that was sent, nil if it has none that callers branch on.
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
