package status

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

// Visit collects the reports of one reconcile of an object on the declared conditions. Only one goroutine may use it at
// a time.
type Visit struct {
	declaration *Declaration
	generation  int64
	reports     map[string]metav1.Condition
	err         error
}

// Visit begins a visit. generation is the metadata.generation of the object that is being reconciled, 0 if it isn't
// known.
func (d *Declaration) Visit(generation int64) *Visit {
	return &Visit{declaration: d, generation: generation, reports: map[string]metav1.Condition{}}
}

// Report sets the condition of a declared type. If a type is reported several times, the last report counts. If the
// declaration doesn't allow a report, or its condition is invalid, End returns the error of the first such report.
func (v *Visit) Report(conditionType string, status metav1.ConditionStatus, reason, message string) {
	declared, known := v.declaration.find(conditionType)
	switch {
	case !known:
		v.fail(fmt.Errorf("%w: %.64q isn't declared", ErrDeclaration, conditionType))
		return
	case declared.Summarises:
		v.fail(fmt.Errorf("%w: %s summarises the other types: it can't be reported", ErrDeclaration, conditionType))
		return
	}
	c := metav1.Condition{Type: conditionType, Status: status, Reason: reason, Message: message, ObservedGeneration: v.generation}
	if err := Validate(c); err != nil {
		v.fail(err)
		return
	}
	v.reports[conditionType] = c
}

// Result reports the outcome of the work for a declared type. If err is nil, the status is True (False for a Negative
// type), and the reason is "Succeeded". Otherwise the matching row of Declared.Errors gives the status and the reason
// (see ErrorReason), and the message is the text of the error.
func (v *Visit) Result(conditionType string, err error) {
	declared, _ := v.declaration.find(conditionType)
	if err == nil {
		v.Report(conditionType, declared.good(), "Succeeded", "")
		return
	}
	status, reason := declared.judge(err)
	v.Report(conditionType, status, reason, err.Error())
}

// Reported returns the condition that was last reported for a type, and false if there is no valid report.
func (v *Visit) Reported(conditionType string) (metav1.Condition, bool) {
	c, ok := v.reports[conditionType]
	return c, ok
}

// End writes the reports into the object and reports whether the object changed. A declared condition that wasn't
// reported is kept or reset as declared. A missing condition is added as by Begin. The condition that summarises is
// computed last, from the others. Missing conditions are appended in the order of the declaration. Present conditions
// keep their places. Conditions that aren't declared stay. If a kept condition has no valid reason, it gets the reason
// "Unspecified", and if it has no time, it gets the time now: the API server may refuse the whole object otherwise.
//
// In the summary, a kept condition counts as stale if its observedGeneration is less than the generation of the visit.
// A missing observedGeneration counts as 0. A condition whose type has no such field isn't stale.
//
// status.observedGeneration becomes the generation of the visit when every declared condition has this generation. End
// writes it into every document, and into a struct that has the field, unless the declaration is ConditionsOnly.
// Reported conditions get the generation as their own observedGeneration, where their type has that field. For a
// document whose conditions have no such field, use a visit with generation 0, which writes no generation.
//
// Errors: the error of the first invalid report (it wraps ErrDeclaration or the error of Validate), ErrInvalid,
// ErrUnsupportedObject, ErrNoTime. With an error nothing is written.
func (v *Visit) End(now time.Time, object any) (changed bool, err error) {
	return v.write(now, object, true)
}

// Flush writes the reports so far into the object, in the middle of long work, and reports whether the object changed.
// Missing conditions are added as by Begin. Conditions that weren't reported yet stay, also those with Reset, and so
// does status.observedGeneration. The condition that summarises is computed from what the object then has. Errors: as
// End.
func (v *Visit) Flush(now time.Time, object any) (changed bool, err error) {
	return v.write(now, object, false)
}

// Err returns the error of the first invalid report, with which End and Flush write nothing.
func (v *Visit) Err() error { return v.err }

func (v *Visit) write(now time.Time, object any, ends bool) (changed bool, err error) {
	if v.err != nil {
		return false, v.err
	}
	if !condition.Datable(now) {
		return false, fmt.Errorf("%w: %w", ErrDeclaration, ErrNoTime)
	}
	if v.generation < 0 {
		return false, fmt.Errorf("%w: %w: %d is negative", ErrDeclaration, errInvalidGeneration, v.generation)
	}
	conditions := v.declaration.conditions(object)
	list := v.content(conditions, ends)
	if err := conditions.Err(); err != nil {
		return false, err
	}
	changed = conditions.setAll(now, list)
	if err := conditions.Err(); err != nil {
		return false, err
	}
	summarised := v.summarise(now, conditions)
	observed := ends && !v.declaration.conditionsOnly && v.observes(conditions) && conditions.observe(v.generation)
	return changed || summarised || observed, conditions.Err()
}

// content returns the conditions that the visit writes, in the order of the declaration. New types are appended in this
// order. Conditions are reset only when the visit ends.
func (v *Visit) content(conditions *ConditionSet, ends bool) []metav1.Condition {
	var list []metav1.Condition
	held := conditions.byType()
	for _, d := range v.declaration.types {
		c, reported := v.reports[d.Type]
		kept, present := held[d.Type]
		switch {
		case reported:
			list = append(list, c)
		case !present:
			list = append(list, initial(d.Type, v.generation))
		case ends && d.Reset && !d.Summarises:
			list = append(list, metav1.Condition{
				Type: d.Type, Status: metav1.ConditionUnknown, Reason: reasonNotReported,
				Message: "the last visit didn't report it", ObservedGeneration: v.generation,
			})
		case !d.Summarises && !storable(kept):
			list = append(list, completed(kept))
		}
	}
	return list
}

// storable reports whether the API server accepts a kept condition.
func storable(c metav1.Condition) bool {
	return validateContent(&c) == nil && !c.LastTransitionTime.IsZero()
}

// completed returns c with valid values in place of missing or invalid ones, except for the time.
func completed(c metav1.Condition) metav1.Condition {
	c.Status = condition.ParseStatus(string(c.Status))
	c.ObservedGeneration = max(c.ObservedGeneration, 0)
	c.Reason = allowedReason(c.Reason)
	return c
}

const reasonNotReported = "NotReported"

// observes reports whether all declared conditions have the generation of the visit. While a kept condition is older,
// status.observedGeneration must stay: readers that check only this field would take the older condition for current.
func (v *Visit) observes(conditions *ConditionSet) bool {
	held := conditions.byType()
	for _, d := range v.declaration.types {
		if v.predates(conditions, held[d.Type]) {
			return false
		}
	}
	return v.generation > 0
}

// predates reports whether a condition is older than the generation of the visit. A condition without a generation
// counts as older: its writer, such as an older release, didn't know the generation. If the object's conditions have no
// field for a generation, none of them counts as older.
func (v *Visit) predates(conditions *ConditionSet, c metav1.Condition) bool {
	return c.ObservedGeneration < v.generation && conditions.holdsGenerations()
}

func (v *Visit) summarise(now time.Time, conditions *ConditionSet) bool {
	var parts []Declared
	var summary *Declared
	for i, d := range v.declaration.types {
		if d.Summarises {
			summary = &v.declaration.types[i]
		} else {
			parts = append(parts, d)
		}
	}
	if summary == nil {
		return false
	}
	c := conditions.summary(summary.Type, parts, func(c metav1.Condition) bool {
		return isStale(c, conditions.generation()) || v.predates(conditions, c)
	})
	c.ObservedGeneration = v.generation
	if summary.Negative && c.Status != metav1.ConditionUnknown {
		c.Status = FromBool(c.Status == metav1.ConditionFalse)
	}
	return conditions.Set(now, c)
}

func (v *Visit) fail(err error) {
	if v.err == nil {
		v.err = err
	}
}
