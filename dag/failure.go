package dag

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// Unverified marks err as one after which a node counts as unverified instead of failed: its
// visit did what it had to, but the result isn't there yet. err is the cause and may be nil.
//
// The mark is about the node. Whether the cause makes the whole run count as failed (see
// [State.HasFailed]) is up to the cause: one with a method Fatal() bool decides by it, nil
// doesn't, and any other one does. [Expected] gives an error that method.
//
// An error that wraps several others is unverified when all of them are.
func Unverified(err error) error { return &unverifiedError{err} }

type unverifiedError struct{ cause error }

func (e *unverifiedError) Error() string {
	if e.cause == nil {
		return "unverified"
	}
	return e.cause.Error()
}

func (e *unverifiedError) Unwrap() error { return e.cause }

// Expected marks err as one that is part of normal work, such as something not being ready
// yet, so that it doesn't make a run count as failed: the result has a method Fatal() bool
// that answers false. nil stays nil.
func Expected(err error) error {
	if err == nil {
		return nil
	}
	return &expectedError{err}
}

type expectedError struct{ error }

func (e *expectedError) Unwrap() error { return e.error }

// Fatal is the word of an error on whether it makes a run count as failed.
func (e *expectedError) Fatal() bool { return false }

// PanicError is the error of a node whose visit, or predicate, panicked.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the goroutine at the panic, as debug.Stack formats it.
	Stack []byte
}

// Error shows the value, not the stack.
func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// Unwrap is the value when that is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// GoexitError is the error of a node whose visit, or predicate, called [runtime.Goexit], as
// FailNow of a test does.
type GoexitError struct {
	// Stack is the stack of the goroutine at the call, as debug.Stack formats it.
	Stack []byte
}

// Error says what happened, without the stack.
func (e *GoexitError) Error() string { return "runtime.Goexit was called" }

// recovered turns a panic into *err. It must be deferred directly.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &PanicError{Value: value, Stack: debug.Stack()}
	}
}

// isUnverified tells whether every branch of err's tree leads to Unverified.
func isUnverified(err error) bool {
	switch e := err.(type) { // errors.As finds one branch, and all of them count
	case *unverifiedError:
		return true
	case interface{ Unwrap() error }:
		return isUnverified(e.Unwrap())
	case interface{ Unwrap() []error }:
		branches := e.Unwrap()
		for _, branch := range branches {
			if !isUnverified(branch) {
				return false
			}
		}
		return len(branches) > 0
	}
	return false
}

// isFatal tells whether err makes a run count as failed: whether any branch of its tree does, so that
// an expected error can't hide another one (spec: dag 33).
func isFatal(err error) bool {
	switch e := err.(type) { // errors.As finds one branch, and any of them counts
	case nil:
		return false
	case interface{ Fatal() bool }:
		return e.Fatal()
	case *unverifiedError:
		return isFatal(e.cause)
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return isFatal(inner)
		}
	case interface{ Unwrap() []error }:
		if branches := e.Unwrap(); len(branches) > 0 {
			return slices.ContainsFunc(branches, isFatal)
		}
	}
	return true
}
