package status

import (
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Declared is one type of condition that a controller owns.
type Declared struct {
	// Type is its name.
	Type string
	// Negative is a type whose True is bad news, such as Stalled or Degraded.
	Negative bool
	// Summarises makes this type the summary of all the other declared ones (see Summary). It isn't reported itself. At
	// most one type may.
	Summarises bool
	// Reset makes it Unknown again, with reason "NotReported", when a visit ends without a report of it. Otherwise it
	// is kept as it was. A Negative type that is Unknown for this reason doesn't make the summary Unknown (see
	// Summary).
	Reset bool
	// Errors gives reasons to errors that are reported for it. The first row
	// that matches decides; without one the reason is "Error".
	Errors []ErrorReason
}

func (d Declared) good() metav1.ConditionStatus {
	if d.Negative {
		return metav1.ConditionFalse
	}
	return metav1.ConditionTrue
}

func (d Declared) bad() metav1.ConditionStatus {
	if d.Negative {
		return metav1.ConditionTrue
	}
	return metav1.ConditionFalse
}

// ErrDeclaration is a declaration that can't be used, or a report that it
// doesn't allow.
var ErrDeclaration = errors.New("declared conditions")

// Declaration is a set of types that a controller owns, in their order. It is
// never changed and may be shared.
type Declaration struct {
	types          []Declared
	places         map[string]int
	conditionsOnly bool
}

// Declare makes a declaration of types. Those that an object doesn't have yet are put behind those that it has, in this
// order; present ones keep their places, so that two controllers of one object don't move each other's conditions for
// ever.
//
// Errors: ErrInvalid for a type that no condition may have, and for an error table whose fixed reason no condition may
// have; ErrDeclaration for a type that is declared twice, for none at all, and for a second one that summarises.
func Declare(types ...Declared) (*Declaration, error) {
	if len(types) == 0 {
		return nil, fmt.Errorf("%w: none is given", ErrDeclaration)
	}
	summary := ""
	places := make(map[string]int, len(types))
	for i, d := range types {
		if err := validateType(d.Type); err != nil {
			return nil, err
		}
		if _, twice := places[d.Type]; twice {
			return nil, fmt.Errorf("%w: %s is declared twice", ErrDeclaration, d.Type)
		}
		places[d.Type] = i
		if d.Summarises && summary != "" {
			return nil, fmt.Errorf("%w: %s and %s both summarise, only one may", ErrDeclaration, summary, d.Type)
		}
		if d.Summarises {
			summary = d.Type
		}
		if err := validateTable(d); err != nil {
			return nil, err
		}
	}
	types = slices.Clone(types)
	for i := range types {
		types[i].Errors = slices.Clone(types[i].Errors)
	}
	return &Declaration{types: types, places: places}, nil
}

// ConditionsOnly returns the same declaration for kinds whose status has no observedGeneration: Visit.End doesn't write
// it then. A document doesn't show whether its schema has the field; without it the API server drops it, or refuses it
// in an apply.
func (d *Declaration) ConditionsOnly() *Declaration {
	return &Declaration{types: d.types, places: d.places, conditionsOnly: true}
}

// Types returns the declared types in their order.
func (d *Declaration) Types() []string {
	result := make([]string, len(d.types))
	for i := range d.types {
		result[i] = d.types[i].Type
	}
	return result
}

// Begin adds each declared condition that the object doesn't have, as Unknown with reason "Initializing", and reports
// whether it changed the object. Call it when an object is first reconciled, and write its status, so that clients that
// wait for a condition find it; on later visits it changes nothing. The errors are those of Visit.End.
func (d *Declaration) Begin(now time.Time, object any, generation int64) (changed bool, err error) {
	conditions := Conditions(object)
	var missing []metav1.Condition
	held := conditions.byType()
	for i := range d.types {
		if _, present := held[d.types[i].Type]; !present {
			missing = append(missing, initial(d.types[i].Type, generation))
		}
	}
	changed = conditions.setAll(now, missing)
	if err := conditions.Err(); err != nil {
		return false, err
	}
	return changed, nil
}

func initial(conditionType string, generation int64) metav1.Condition {
	return metav1.Condition{
		Type: conditionType, Status: metav1.ConditionUnknown, ObservedGeneration: generation,
		Reason: string(ReadyInitializing), Message: "nothing is known yet",
	}
}

func (d *Declaration) find(conditionType string) (Declared, bool) {
	place, known := d.places[conditionType]
	if !known {
		return Declared{}, false
	}
	return d.types[place], true
}

// ErrorReason is one row of a table from errors to conditions. ErrorIs and
// ErrorAs make the usual ones.
type ErrorReason struct {
	// Match reports whether the row is about an error. nil matches every one.
	Match func(err error) bool
	// Reason is the reason of the condition. ReasonOf, when set, returns it for the error instead; what no condition
	// may have as its reason falls back to Reason, and to "Error" when that is empty.
	Reason   string
	ReasonOf func(err error) string
	// Status is the status of the condition; empty is the bad one of its type.
	// An error that will pass by itself may rather be Unknown.
	Status metav1.ConditionStatus
}

// ErrorIs is the row of errors that are a target, in the sense of errors.Is.
func ErrorIs(target error, reason string) ErrorReason {
	return ErrorReason{Reason: reason, Match: func(err error) bool { return errors.Is(err, target) }}
}

// ErrorAs is the row of errors of a type, in the sense of errors.As. The reason
// is what the function makes of the error.
func ErrorAs[T error](reason func(err T) string) ErrorReason {
	return ErrorReason{
		Match: func(err error) bool {
			var target T
			return errors.As(err, &target)
		},
		ReasonOf: func(err error) string {
			var target T
			if reason == nil || !errors.As(err, &target) {
				return ""
			}
			return reason(target)
		},
	}
}

const reasonError = "Error"

// judge returns status and reason for an error of a declared type.
func (d Declared) judge(err error) (metav1.ConditionStatus, string) {
	for _, row := range d.Errors {
		if row.Match != nil && !row.Match(err) {
			continue
		}
		status, reason := d.bad(), row.Reason
		if row.Status != "" {
			status = row.Status
		}
		if row.ReasonOf != nil {
			if own := row.ReasonOf(err); len(own) <= maxReasonLength && reasonFits(own) {
				reason = own
			}
		}
		if reason == "" {
			reason = reasonError
		}
		return status, reason
	}
	return d.bad(), reasonError
}

func validateTable(d Declared) error {
	for i, row := range d.Errors {
		c := metav1.Condition{Type: d.Type, Status: d.bad(), Reason: reasonError}
		if row.Reason != "" {
			c.Reason = row.Reason
		}
		if row.Status != "" {
			c.Status = row.Status
		}
		if err := validateContent(&c); err != nil {
			return fmt.Errorf("row %d of the error table: %w", i+1, err)
		}
	}
	return nil
}
