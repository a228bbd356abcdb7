package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Declared is one type of condition that a controller owns.
type Declared struct {
	// Type is the type of the condition.
	Type string
	// Negative means that the status True is bad, as for Stalled or Degraded.
	Negative bool
	// Summarises makes this type the summary of all other declared types (see Summary). It can't be reported itself. At
	// most one type may summarise.
	Summarises bool
	// Reset makes the condition Unknown, with reason "NotReported", when a visit ends without a report of the
	// condition. Without Reset, the condition is kept as it was. A Negative condition with this reason makes the
	// summary Unknown only if no other condition is good or bad (see Summary).
	Reset bool
	// UpdateTime gives the condition a lastUpdateTime in documents: the time of its last change, also of reason and
	// message. Use it if the schema of the kind has this field. Structs whose conditions have the field need no
	// UpdateTime.
	UpdateTime bool
	// Errors maps the errors that Visit.Result reports for this type to reasons. The first row that matches decides. If
	// no row matches, the reason is "Error".
	Errors []ErrorReason
}

func (d Declared) good() metav1.ConditionStatus { return FromBool(!d.Negative) }

func (d Declared) bad() metav1.ConditionStatus { return FromBool(d.Negative) }

// ErrDeclaration is wrapped by errors about a declaration that can't be used, and about a report that the declaration
// doesn't allow.
var ErrDeclaration = errors.New("declared conditions")

// Declaration is an ordered set of types of conditions that a controller owns. It is immutable and may be shared.
type Declaration struct {
	types          []Declared
	places         map[string]int
	conditionsOnly bool
}

// Declare returns a declaration of types. Present conditions of an object keep their places. Missing ones are appended
// in the order of the declaration. So two controllers of one object don't keep moving each other's conditions.
//
// Errors: ErrInvalid for an invalid type, and for an invalid reason or status in an error table; ErrDeclaration for a
// type that is declared twice, for a call without types, and for a second type that summarises.
func Declare(types ...Declared) (*Declaration, error) {
	if len(types) == 0 {
		return nil, fmt.Errorf("%w: no type is given", ErrDeclaration)
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
			return nil, fmt.Errorf("%w: both %s and %s summarise: only one type may", ErrDeclaration, summary, d.Type)
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
// the field then. Use it with documents, which don't show whether their schema has the field. The API server drops a
// field that the schema doesn't have, or refuses it in an apply.
func (d *Declaration) ConditionsOnly() *Declaration {
	return &Declaration{types: d.types, places: d.places, conditionsOnly: true}
}

// Types returns the names of the declared types in their order.
func (d *Declaration) Types() []string {
	result := make([]string, len(d.types))
	for i := range d.types {
		result[i] = d.types[i].Type
	}
	return result
}

// Declared returns what was given to Declare. The caller may change the slice.
func (d *Declaration) Declared() []Declared { return slices.Clone(d.types) }

// Begin adds each declared condition that the object doesn't have, as Unknown with reason "Initializing", and reports
// whether it changed the object. Call it when an object is first reconciled, and write its status: then clients that
// wait for a condition find it. On later visits it changes nothing. It returns the same errors as Visit.End.
func (d *Declaration) Begin(now time.Time, object any, generation int64) (changed bool, err error) {
	conditions := d.conditions(object)
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

// conditions returns the conditions of an object, whose declared ones get a lastUpdateTime.
func (d *Declaration) conditions(object any) *ConditionSet {
	conditions := Conditions(object)
	for i := range d.types {
		if d.types[i].UpdateTime {
			if conditions.dated == nil {
				conditions.dated = map[string]bool{}
			}
			conditions.dated[d.types[i].Type] = true
		}
	}
	return conditions
}

func (d *Declaration) find(conditionType string) (Declared, bool) {
	place, known := d.places[conditionType]
	if !known {
		return Declared{}, false
	}
	return d.types[place], true
}

// ErrorReason is one row of a table that maps errors to conditions. ErrorIs and ErrorAs return the usual rows.
type ErrorReason struct {
	// Match reports whether the row applies to an error. A nil Match applies to every error.
	Match func(err error) bool
	// Reason is the reason of the condition; an empty Reason means "Error". If ReasonOf is set, it returns the reason
	// for an error instead. If ReasonOf returns an invalid reason, Reason is used.
	Reason   string
	ReasonOf func(err error) string
	// Status is the status of the condition; an empty Status means False, or True for a Negative type. Use Unknown for
	// an error that will pass by itself.
	Status metav1.ConditionStatus
}

// ErrorIs returns the row for errors that match target, as by errors.Is.
func ErrorIs(target error, reason string) ErrorReason {
	return ErrorReason{Reason: reason, Match: func(err error) bool { return errors.Is(err, target) }}
}

// ErrorAs returns the row for errors of type T, as by errors.As. The function returns the reason for the error. If it
// is nil or returns an invalid reason, the reason is "Error".
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

// judge returns the status and the reason for an error that is reported for a declared type.
func (d Declared) judge(err error) (metav1.ConditionStatus, string) {
	for _, row := range d.Errors {
		if row.Match != nil && !row.Match(err) {
			continue
		}
		reason := row.Reason
		if row.ReasonOf != nil {
			if own := row.ReasonOf(err); len(own) <= maxReasonLength && reasonFits(own) {
				reason = own
			}
		}
		return cmp.Or(row.Status, d.bad()), cmp.Or(reason, reasonError)
	}
	return d.bad(), reasonError
}

func validateTable(d Declared) error {
	for i, row := range d.Errors {
		c := metav1.Condition{Type: d.Type, Status: cmp.Or(row.Status, d.bad()), Reason: cmp.Or(row.Reason, reasonError)}
		if err := validateContent(&c); err != nil {
			return fmt.Errorf("row %d of the error table: %w", i+1, err)
		}
	}
	return nil
}
