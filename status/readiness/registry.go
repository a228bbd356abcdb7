package readiness

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Registry says of kinds how they are judged. It is a value: make one, give it
// to a Checker, and don't write to it afterwards (With makes another one). As
// long as nobody does, it may be used by many goroutines. nil is empty.
type Registry map[schema.GroupKind]Expectation

// With answers a Registry that says what this one says, and something else of
// one kind. This one isn't changed, so that others may go on using it.
func (r Registry) With(kind schema.GroupKind, expected Expectation) Registry {
	result := make(Registry, len(r)+1)
	maps.Copy(result, r)
	result[kind] = expected
	return result
}

// Expectation is how the objects of one kind are judged. The zero value says
// nothing, so that the table and the generic conditions decide. What is given
// decides in the order of the fields; Condition and Fields have to hold both.
//
// Whatever is given, an object that is being deleted, whose generation isn't
// observed, or that is Stalled or Reconciling isn't ready.
//
// spec: status 17
type Expectation struct {
	// Func judges an object, given as a document that it must not change. now is
	// zero when no time is known. An answer without a State is Unknown.
	Func func(now time.Time, object map[string]any) Result
	// Condition is a condition that makes the object ready.
	Condition *Condition
	// Fields are fields that do.
	Fields []Field
	// Subsystem is for custom resources of operators that write their status as
	// status.Application does. It matters for kinds without a row in the table.
	Subsystem *Subsystem
	// SetsReady declares that the controller of the kind sets the condition
	// Ready: as long as it is missing, the object is InProgress. It matters for
	// kinds without a row in the table.
	SetsReady bool
}

// Condition is an expected condition. Of several entries of its type the newest
// decides.
//
// spec: status 18, 19, 20
type Condition struct {
	// Type is the condition's type.
	Type string
	// Status is what it has to be; empty is True.
	Status string
	// FailedReasons are reasons with which it is hopeless to wait, whatever the
	// status.
	FailedReasons []string
	// TimeKey is the field that dates an entry; empty is lastTransitionTime.
	TimeKey string
}

// Field is an expected field. Numbers are compared as numbers, everything else
// as it is.
type Field struct {
	// Path leads to it, with dots: .status.phase
	Path string
	// Ready are the values that make the object ready; empty is every value.
	Ready []any
	// Failed are the values with which it is hopeless to wait.
	Failed []any
}

// Subsystem is an expected application status: Ready is True, Updating is
// False, and the reconciled version is the desired one.
//
// spec: status 22
type Subsystem struct {
	// Version is the desired version; empty for the one that the resource wants by its own spec.version. Where that is
	// missing as well no version is looked at.
	Version string
}

// ErrExpectation is an expectation that can't be met.
var ErrExpectation = errors.New("invalid expectation")

// Validate tells of every expectation that can't be met: a condition without a
// type, or a field without a path. The error wraps ErrExpectation. Objects of a
// kind with such an expectation are Unknown.
func (r Registry) Validate() error {
	kinds := slices.SortedFunc(maps.Keys(r), func(a, b schema.GroupKind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
	})
	var faults []error
	for _, kind := range kinds {
		if err := r[kind].validate(); err != nil {
			faults = append(faults, fmt.Errorf("kind %s: %w", kind, err))
		}
	}
	return errors.Join(faults...)
}

func (e Expectation) validate() error {
	if c := e.Condition; c != nil {
		switch {
		case c.Type == "":
			return fmt.Errorf("%w: the condition has no type", ErrExpectation)
		case c.Status != "" && c.Status != "True" && c.Status != "False" && c.Status != "Unknown":
			return fmt.Errorf("%w: condition %s: status %.64q, use True, False or Unknown", ErrExpectation, c.Type, c.Status)
		}
	}
	for _, f := range e.Fields {
		for segment := range strings.SplitSeq(strings.TrimPrefix(f.Path, "."), ".") {
			if segment == "" {
				return fmt.Errorf("%w: path %.64q: use names with dots between them, as in .status.phase", ErrExpectation, f.Path)
			}
		}
	}
	return nil
}
