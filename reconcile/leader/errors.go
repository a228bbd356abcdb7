package leader

import (
	"errors"
	"fmt"
)

var (
	// ErrLost is why the context of the work has ended, as its cause, and what Run then returns: another
	// replica leads or may do so. A program ends then, or calls Run again.
	ErrLost = errors.New("leadership lost")
	// ErrNotLeading is what a call through Transport is refused with.
	ErrNotLeading = errors.New("this replica doesn't lead")
)

// impossibleError tells that trying on is of no use.
type impossibleError struct{ err error }

func (e *impossibleError) Error() string { return e.err.Error() }
func (e *impossibleError) Unwrap() error { return e.err }

// panicError is a panic while the lock was read or written.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }
