package lifecycle

import (
	"errors"
	"fmt"
	"sync"

	"github.com/operkit/operkit/status"
)

// Fields are the fields of the status that the user's code sets in one reconcile of a resource. The zero value is
// empty. All methods are safe for concurrent use.
type Fields struct {
	mu      sync.Mutex
	values  status.Values
	errs    []error
	refused error
}

// Set sets the field at path, see status.Values. An invalid call is recorded for Err.
func (f *Fields) Set(path string, value any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := f.values.Set(path, value)
	if f.refused != nil {
		err = fmt.Errorf("status field %s: %w", path, f.refused)
	}
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// Refuse makes each further call of Set invalid, because of why.
func (f *Fields) Refuse(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = why
}

// Err joins the errors of the invalid calls since the last call of Err or Close.
func (f *Fields) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.takeErr()
}

// Close returns the fields that were set, and the errors of the invalid calls since the last call of Err. Each further
// call of Set is invalid, because of why.
func (f *Fields) Close(why error) (status.Values, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refused = why
	return f.values.Clone(), f.takeErr()
}

func (f *Fields) takeErr() error {
	err := errors.Join(f.errs...)
	f.errs = nil
	return err
}
