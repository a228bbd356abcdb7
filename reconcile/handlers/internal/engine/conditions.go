package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/operkit/operkit/status"
)

// conditionsOf returns the conditions that handlers report, each once, in the order of the handlers. It is an error if
// one has several error tables.
func conditionsOf(handlers []*Handler) (types []status.Declared, err error) {
	var errs []error
	for _, h := range handlers {
		for _, declared := range h.Reports {
			at := slices.IndexFunc(types, func(d status.Declared) bool { return d.Type == declared.Type })
			switch {
			case at < 0:
				types = append(types, declared)
			case len(types[at].Errors) == 0:
				types[at].Errors = declared.Errors
			case len(declared.Errors) > 0 && !isSame(types[at].Errors, declared.Errors):
				errs = append(errs, fmt.Errorf("handler %q: reports %s: an earlier one has another error table: use the same option Reports for both", h.ID, declared.Type))
			}
		}
	}
	return types, errors.Join(errs...)
}

// isSame reports whether two tables are one. Their functions can't be compared.
func isSame(a, b []status.ErrorReason) bool { return len(a) == len(b) && &a[0] == &b[0] }
