package dag

import (
	"fmt"
	"runtime/debug"
	"slices"
)

// Unverified returns an error that makes a node unverified instead of failed: its visit did its work, but the result
// isn't there yet. err is the cause and may be nil.
//
// Whether the whole run counts as failed (see [State.HasFailed]) depends on the cause. A nil cause doesn't count. A
// cause with a method Fatal() bool counts if Fatal returns true. Any other cause counts. [Expected] adds a Fatal method
// that returns false.
//
// An error that wraps several errors makes the node unverified if each of them does.
func Unverified(err error) error { return &unverifiedError{err} }

type unverifiedError struct{ cause error }

func (e *unverifiedError) Error() string {
	if e.cause == nil {
		return "unverified"
	}
	return e.cause.Error()
}

func (e *unverifiedError) Unwrap() error { return e.cause }

// Expected wraps err so that it doesn't make a run count as failed: the result has a method Fatal() bool that returns
// false. Use it for errors that are part of normal work, such as something that isn't ready yet. Expected(nil) is nil.
func Expected(err error) error {
	if err == nil {
		return nil
	}
	return &expectedError{err}
}

type expectedError struct{ error }

func (e *expectedError) Unwrap() error { return e.error }

// Fatal reports whether the error makes a run count as failed.
func (e *expectedError) Fatal() bool { return false }

// PanicError is the error of a node whose visit or predicate panicked.
type PanicError struct {
	// Value is what was passed to panic.
	Value any
	// Stack is the stack of the goroutine at the panic, as debug.Stack formats it.
	Stack []byte
}

// Error returns the value and, if the stack has it, the Location.
func (e *PanicError) Error() string {
	if at := e.Location(); at != "" {
		return fmt.Sprintf("panic: %v (%s)", e.Value, at)
	}
	return fmt.Sprintf("panic: %v", e.Value)
}

// Location returns the file and line of the panic, without folders, such as "controller.go:57". If a function of the
// standard library panicked, it is the line that called this library. It is empty if Stack doesn't have it.
func (e *PanicError) Location() string { return locate(string(e.Stack)) }

// Unwrap returns the value if it is an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// GoexitError is the error of a node whose visit or predicate called [runtime.Goexit], as testing.T.FailNow does.
type GoexitError struct {
	// Stack is the stack of the goroutine at the call, as debug.Stack formats it.
	Stack []byte
}

// Error returns a text without the stack.
func (e *GoexitError) Error() string { return "runtime.Goexit was called" }

// recovered stores a panic in *err. It must be deferred directly.
func recovered(err *error) {
	if value := recover(); value != nil {
		*err = &PanicError{Value: value, Stack: debug.Stack()}
	}
}

// isUnverified reports whether every branch of err's tree has an error of Unverified.
func isUnverified(err error) bool {
	switch e := err.(type) { // errors.As finds one branch, but all of them count
	case *unverifiedError:
		return true
	case interface{ Unwrap() error }:
		return isUnverified(e.Unwrap())
	case interface{ Unwrap() []error }:
		branches := e.Unwrap()
		return len(branches) > 0 && !slices.ContainsFunc(branches, func(branch error) bool { return !isUnverified(branch) })
	}
	return false
}

// isFatal reports whether any branch of err's tree makes a run count as failed. It looks at all branches so that an
// expected error can't hide another one.
func isFatal(err error) bool {
	switch e := err.(type) { // errors.As finds one branch, but any of them counts
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
