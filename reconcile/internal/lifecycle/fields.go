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

// Err joins the errors of all invalid calls.
func (f *Fields) Err() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return errors.Join(f.errs...)
}

// Values returns the fields that were set so far.
func (f *Fields) Values() status.Values {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.values.Clone()
}
