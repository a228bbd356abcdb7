package status

import (
	"fmt"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// Accessor is what a typed object implements to have its conditions read and
// written here. GetConditions may answer the object's own slice: it is never
// changed, SetConditions is given a new one.
type Accessor interface {
	// GetConditions answers the conditions, SetConditions replaces them.
	GetConditions() []metav1.Condition
	SetConditions(conditions []metav1.Condition)
}

// ConditionSet reads and writes the conditions of one object. It holds no
// copy: each call looks at the object, and Set and Remove change it. It may be
// used by one goroutine at a time, as the object itself.
type ConditionSet struct {
	target any
	err    error
}

// Conditions gives access to the conditions of an object, which is one of:
//
//   - *unstructured.Unstructured, at status.conditions, also embedded in a struct
//     that is pointed to;
//   - map[string]any holding a whole object, at status.conditions;
//   - *[]metav1.Condition, the bare list; []metav1.Condition to be read only;
//   - a typed object that implements Accessor;
//   - a pointer to any other struct with a list of conditions at
//     status.conditions of its JSON form: of metav1.Condition, or of another
//     struct that has at least type and status, such as a PodCondition. Texts,
//     integers and times may be pointers, and a time may be a metav1.Time, a
//     time.Time or a text. A condition with a field of another type can be read
//     and not written.
//
// Another type, and nil, hold no conditions: everything reads as absent, what
// is to write changes nothing and Err tells why.
//
// In documents whatever isn't where it belongs counts as absent: a status that
// is null, a list or a string, conditions that are no list, elements that are
// no maps. A map made in Go may also hold a []map[string]any or a
// []metav1.Condition; a write makes a []any of it. A list of yet another Go type
// reads as absent, and Set refuses to replace it. Conditions of other types and unknown fields of a condition are
// kept. Objects out of a cache have to be copied before they are written to,
// deeply.
func Conditions(object any) *ConditionSet {
	return &ConditionSet{target: target(object)}
}

// target is the object itself, or the unstructured one that it wraps.
func target(object any) any {
	switch object.(type) {
	case *unstructured.Unstructured, map[string]any, *[]metav1.Condition, Accessor:
		return object
	}
	return structs.Unwrap(object)
}

// Err answers the first error that a call on this set met: an object that
// holds no conditions (ErrUnsupportedObject), or a condition that Set refused
// (see Validate). nil when there was none.
func (s *ConditionSet) Err() error { return s.err }

// Get answers the condition of a type; the zero condition and false when there
// is none, so that nobody takes what isn't there for an Unknown that somebody
// wrote (IsUnknown is for those who need not know). Of several
// entries of one type the newest decides, the first listed one among equals.
// From a document the status is read as True (also the text true in any case,
// or a boolean), False likewise, and Unknown for everything else; a time that
// can't be read is zero, one without a zone is UTC, and oper8's
// lastTransactionTime stands in for a missing lastTransitionTime.
//
// spec: status 11, 19, 20
func (s *ConditionSet) Get(conditionType string) (metav1.Condition, bool) {
	document, list := s.read()
	if entry := condition.Find(document, conditionType); entry != nil {
		return fromDocument(entry), true
	}
	if index, _ := newestOf(list, conditionType); index >= 0 {
		return list[index], true
	}
	return metav1.Condition{}, false
}

// List answers all conditions as Get reads them, one of each type, in the order
// of the first entry of each. Entries without a type are left out.
func (s *ConditionSet) List() []metav1.Condition {
	document, list := s.read()
	result := make([]metav1.Condition, 0, len(document)+len(list))
	places := make(map[string]int, len(document)+len(list))
	add := func(c metav1.Condition) {
		at, twice := places[c.Type]
		switch {
		case c.Type == "":
		case !twice:
			places[c.Type] = len(result)
			result = append(result, c)
		case orEpoch(c.LastTransitionTime).After(orEpoch(result[at].LastTransitionTime)):
			result[at] = c
		}
	}
	for _, element := range document {
		if entry, ok := element.(map[string]any); ok {
			add(fromDocument(entry))
		}
	}
	for i := range list {
		add(list[i])
	}
	return result
}

// read answers the conditions as the object holds them: of a document, or
// typed ones.
func (s *ConditionSet) read() (document []any, list []metav1.Condition) {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target != nil {
			return condition.List(target.Object), nil
		}
	case map[string]any:
		if target != nil {
			return condition.List(target), nil
		}
	case *[]metav1.Condition:
		if target != nil {
			return nil, *target
		}
	case []metav1.Condition:
		return nil, target
	case Accessor:
		if !isNil(target) {
			return nil, target.GetConditions()
		}
	default:
		if held, ok := structOf(target); ok {
			return nil, held.read()
		}
	}
	s.unsupported()
	return nil, nil
}

func (s *ConditionSet) unsupported() {
	s.fail(fmt.Errorf("conditions of %s: %w: use a non-nil *unstructured.Unstructured, map[string]any, *[]metav1.Condition, status.Accessor, or a pointer to a struct with status.conditions", nameOf(s.target), ErrUnsupportedObject))
}

func (s *ConditionSet) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// nameOf names the target in an error.
func nameOf(target any) string {
	if isNil(target) {
		return fmt.Sprintf("nil %T", target)
	}
	return fmt.Sprintf("%T", target)
}

func isNil(target any) bool {
	switch value := reflect.ValueOf(target); value.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return value.IsNil()
	}
	return false
}

func fromDocument(entry map[string]any) metav1.Condition {
	generation, _ := condition.Integer(entry[condition.ObservedGeneration])
	transition, _ := condition.Transition(entry)
	return metav1.Condition{
		Type:               condition.Text(entry, condition.Type),
		Status:             condition.StatusOf(entry),
		ObservedGeneration: generation,
		LastTransitionTime: metav1.Time{Time: transition},
		Reason:             condition.Text(entry, condition.Reason),
		Message:            condition.Text(entry, condition.Message),
	}
}

// newestOf is condition.Newest for typed conditions.
func newestOf(list []metav1.Condition, conditionType string) (index, count int) {
	index = -1
	if conditionType == "" {
		return index, 0
	}
	size := len(conditionType)
	last := conditionType[size-1]
	for i := range list {
		// Types of one list are often alike but for their ends.
		have := list[i].Type
		if len(have) != size || have[size-1] != last || have != conditionType {
			continue
		}
		count++
		if count == 1 || orEpoch(list[i].LastTransitionTime).After(orEpoch(list[index].LastTransitionTime)) {
			index = i
		}
	}
	return index, count
}

func orEpoch(at metav1.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0)
	}
	return at.Time
}
