package handlers

import (
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/plain"
)

// Check decides by a value whether a handler is called. The value is in the form of unstructured objects: text, bool,
// int64, float64, a list or a map. An absent value is nil. It is shared: a Check must not change it.
type Check = selection.Check

// Present passes every value that is there.
func Present(value any) bool { return selection.Present(value) }

// Absent passes the absent value.
func Absent(value any) bool { return selection.Absent(value) }

// Equal returns a Check for one value. Numbers of different types are compared by value.
func Equal(want any) Check {
	if value, err := plain.Value(want); err == nil {
		want = value
	}
	return selection.Equal(want)
}

// Not returns a Check that passes what check doesn't pass. A nil check is a mistake that is reported when the operator
// starts, as in AnyOf and AllOf.
func Not(check Check) Check { return selection.Not(check) }

// AnyOf returns a Check that passes what one of the checks passes.
func AnyOf(checks ...Check) Check { return selection.Any(checks...) }

// AllOf returns a Check that passes what all checks pass.
func AllOf(checks ...Check) Check { return selection.All(checks...) }
