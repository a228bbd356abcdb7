package status

import (
	"fmt"
	"reflect"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// Accessor is what a typed object implements to have its conditions read and written without reflection. GetConditions
// may return the object's own slice: it is never changed, SetConditions gets a new one.
type Accessor interface {
	// GetConditions returns the conditions, SetConditions replaces them.
	GetConditions() []metav1.Condition
	SetConditions(conditions []metav1.Condition)
}

// ConditionSet reads and writes the conditions of one object. It holds no copy: each call looks at the object, and Set,
// Merge and Remove change it. It may be used by one goroutine at a time, as the object itself.
type ConditionSet struct {
	target any
	err    error
}

// Conditions gives access to the conditions of an object, which is one of:
//
//   - *unstructured.Unstructured, or a pointer to a struct that embeds it, at status.conditions;
//   - map[string]any holding a whole object, at status.conditions;
//   - *[]metav1.Condition, the bare list; []metav1.Condition to be read only;
//   - a typed object that implements Accessor;
//   - a pointer to any other struct with a list of conditions at status.conditions of its JSON form: of
//     metav1.Condition, or of another struct that has at least type and status, such as a PodCondition. Texts, integers
//     and times may be pointers, and a time may be a metav1.Time, a time.Time or a text. A condition with a field of
//     another type can be read and not written.
//
// Another type, and nil, hold no conditions: everything reads as absent, writes change nothing, and Err returns why.
//
// In documents whatever isn't where it belongs counts as absent: a status that is null, a list or a string, conditions
// that are no list, elements that are no maps. A map made in Go may also hold a []map[string]any or a
// []metav1.Condition; a write makes a []any of it. A list of another Go type reads as absent, and Set refuses to
// replace it. Conditions of other types and unknown fields of a condition are kept. Make a deep copy of an object from
// a cache before writing to it.
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

// Err returns the first error of the calls on this set: an object that holds no conditions (ErrUnsupportedObject), or a
// condition that Set refused (see Validate). It is nil without one.
func (s *ConditionSet) Err() error { return s.err }

// Get returns the condition of a type; the zero condition and false when there is none, which is not the same as an
// Unknown that somebody wrote (IsUnknown reports both). Of several entries of one type the newest decides, the first
// listed one among equals. In a document, the text "true" in upper or lower case and the boolean true are read as True,
// the same holds for False, and everything else is Unknown; a time that can't be read is zero, one without a zone is
// UTC, and oper8's lastTransactionTime is read where lastTransitionTime is missing.
func (s *ConditionSet) Get(conditionType string) (metav1.Condition, bool) {
	c, _, count := s.find(conditionType)
	if count > 0 && s.document() != nil {
		c.Status = condition.ParseStatus(string(c.Status))
	}
	return c, count > 0
}

// find returns the newest entry of a type, its index, and how many there are. In a document, the status is the text
// that is written there.
func (s *ConditionSet) find(conditionType string) (c metav1.Condition, index, count int) {
	document, list := s.read()
	if document != nil {
		if index, count = condition.Newest(document, conditionType); count > 0 {
			c = asWritten(document[index].(map[string]any))
		}
	} else if index, count = newestOf(list, conditionType); count > 0 {
		c = list[index]
	}
	return c, index, count
}

// all returns the conditions as find does. Elements of a document that are no maps are left out.
func (s *ConditionSet) all() []metav1.Condition {
	document, list := s.read()
	if document == nil {
		return list
	}
	entries := mapsOf(document)
	list = make([]metav1.Condition, len(entries))
	for i, entry := range entries {
		list[i] = asWritten(entry.(map[string]any))
	}
	return list
}

// List returns all conditions as Get reads them, one of each type, in the order
// of the first entry of each. Entries without a type are left out.
func (s *ConditionSet) List() []metav1.Condition {
	all := s.all()
	result := make([]metav1.Condition, 0, len(all))
	places := make(map[string]int, len(all))
	for _, c := range all {
		if s.document() != nil {
			c.Status = condition.ParseStatus(string(c.Status))
		}
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
	return result
}

// byType returns what Get does, for all types at once.
func (s *ConditionSet) byType() map[string]metav1.Condition {
	list := s.List()
	result := make(map[string]metav1.Condition, len(list))
	for i := range list {
		result[list[i].Type] = list[i]
	}
	return result
}

// document is the object as a document, nil for the other forms.
func (s *ConditionSet) document() map[string]any {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target != nil {
			return target.Object
		}
	case map[string]any:
		return target
	}
	return nil
}

// read returns the conditions as the object holds them: of a document, or typed ones.
func (s *ConditionSet) read() (document []any, list []metav1.Condition) {
	switch target := s.target.(type) {
	case []metav1.Condition:
		return nil, target
	case *[]metav1.Condition:
		if target != nil {
			return nil, *target
		}
	case *unstructured.Unstructured, map[string]any:
		if !isNil(target) {
			return condition.List(s.document()), nil
		}
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

// fromDocument is an entry of a document as Get reads it.
func fromDocument(entry map[string]any) metav1.Condition {
	c := asWritten(entry)
	c.Status = condition.ParseStatus(string(c.Status))
	return c
}

// asWritten is an entry of a document with its status as it is written, booleans as texts.
func asWritten(entry map[string]any) metav1.Condition {
	status, isText := entry[condition.Status].(string)
	if holds, isBool := entry[condition.Status].(bool); !isText && isBool {
		status = strconv.FormatBool(holds)
	}
	generation, _ := condition.Integer(entry[condition.ObservedGeneration])
	transition, _ := condition.Transition(entry)
	return metav1.Condition{
		Type:               condition.Text(entry, condition.Type),
		Status:             metav1.ConditionStatus(status),
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
		// Types in one list often differ only at their ends.
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
