package selection

import (
	"slices"

	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
)

// Check reports whether a value passes. An absent value is nil.
type Check func(value any) bool

// Present passes every value that is there. A null counts as absent.
func Present(value any) bool { return value != nil }

// Absent passes the absent value.
func Absent(value any) bool { return value == nil }

// Equal returns a Check for one value. Numbers are equal by value.
func Equal(want any) Check { return func(value any) bool { return diff.Equal(want, value) } }

// Not returns a Check that passes what c doesn't pass, nil if c is nil.
func Not(c Check) Check {
	if c == nil {
		return nil
	}
	return func(value any) bool { return !c(value) }
}

// All returns a Check that passes what all checks pass; without checks it passes everything. It returns nil if one is
// nil.
func All(checks ...Check) Check {
	if hasNil(checks) {
		return nil
	}
	return func(value any) bool {
		return !slices.ContainsFunc(checks, func(c Check) bool { return !c(value) })
	}
}

// Any returns a Check that passes what one of the checks passes; without checks it passes nothing. It returns nil if
// one is nil.
func Any(checks ...Check) Check {
	if hasNil(checks) {
		return nil
	}
	return func(value any) bool { return slices.ContainsFunc(checks, func(c Check) bool { return c(value) }) }
}

func hasNil(checks []Check) bool {
	return slices.ContainsFunc(checks, func(c Check) bool { return c == nil })
}
