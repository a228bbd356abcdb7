package failure

import (
	"errors"
	"runtime/debug"

	"github.com/operkit/operkit/dag"
)

// Is reports whether err is an error of type E, or wraps one.
func Is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Guard returns the error of call. If call panics, the error is a *dag.PanicError.
func Guard(call func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &dag.PanicError{Value: value, Stack: debug.Stack()}
		}
	}()
	return call()
}

// Value is Guard for a function that also returns a value. After a panic the value is zero.
func Value[T any](call func() (T, error)) (value T, err error) {
	err = Guard(func() (err error) {
		value, err = call()
		return err
	})
	return value, err
}
