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

// Accessor reads and writes the conditions of a typed object without reflection. GetConditions may return the object's
// own slice: this package never changes it, and passes a new slice to SetConditions.
type Accessor interface {
	// GetConditions returns the conditions, SetConditions replaces them.
	GetConditions() []metav1.Condition
	SetConditions(conditions []metav1.Condition)
}

// ConditionSet reads and writes the conditions of one object. It holds no copy: each call reads the object, and Set,
// Merge and Remove change it. Only one goroutine may use the set or its object at a time.
type ConditionSet struct {
	target any
	err    error
	// dated are the types whose entries in documents get a lastUpdateTime, also new ones.
	dated map[string]bool
}

// Conditions returns the set of conditions of an object, which is one of:
//
//   - *unstructured.Unstructured, or a pointer to a struct that embeds it, with the list at status.conditions;
//   - map[string]any that holds a whole object, with the list at status.conditions;
//   - *[]metav1.Condition, a bare list; or []metav1.Condition, which can only be read;
//   - a typed object that implements Accessor;
//   - a pointer to any other struct whose JSON form has a list at status.conditions. Its elements are metav1.Condition,
//     or another struct that has at least type and status, such as a PodCondition. Strings, integers and times may be
//     pointers. A time may be a metav1.Time, a time.Time or a string. Conditions with a field of another type can be
//     read but not written.
//
// nil and objects of other types hold no conditions: every condition reads as absent, writes change nothing, and Err
// returns ErrUnsupportedObject.
//
// In a document (an unstructured object, or a map), a value of the wrong type counts as absent: a status that is null,
// a list or a string, conditions that aren't a list, elements that aren't maps. A map made in Go may also hold a
// []map[string]any or a []metav1.Condition; a write converts it to a []any. A list of another Go type reads as absent,
// and Set refuses to replace it. A write keeps all other conditions, and the fields of a condition that this package
// doesn't know. Make a deep copy of an object from a cache before you write to it.
func Conditions(object any) *ConditionSet {
	return &ConditionSet{target: target(object)}
}

// target returns the object itself, or the unstructured object that it embeds.
func target(object any) any {
	if _, isAccessor := object.(Accessor); isAccessor {
		return object
	}
	return structs.Unwrap(object)
}

// Err returns the first error of the calls on this set, nil if there was none. It wraps ErrUnsupportedObject for an
// object that can't hold conditions, ErrInvalid for an invalid condition (see Validate), and ErrNoTime for a condition
// without a usable time.
func (s *ConditionSet) Err() error { return s.err }

// Get returns the condition of a type. If there is none, it returns the zero condition and false; so an absent
// condition differs from a present condition whose status is Unknown (IsUnknown returns true for both). If the type has
// several entries, the newest decides, and of equally new ones the first in the list. In a document, a status is read
// from booleans and from the texts true and false, in upper or lower case; everything else is Unknown. A time that
// can't be read is zero, and a time without a zone is UTC. oper8's lastTransactionTime is read where lastTransitionTime
// is missing.
func (s *ConditionSet) Get(conditionType string) (metav1.Condition, bool) {
	c, _, count := s.find(conditionType)
	if count > 0 && s.document() != nil {
		c.Status = condition.ParseStatus(string(c.Status))
	}
	return c, count > 0
}

// find returns the newest entry of a type, its index, and the number of entries. For a document, the status is returned
// as it is written.
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

// all returns all conditions in the form in which find returns them. It leaves out elements of a document that aren't
// maps.
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

// List returns all conditions as Get returns them, one for each type, in the order of the first entry of each type. It
// leaves out entries without a type.
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

// byType returns all conditions by type, as Get returns them.
func (s *ConditionSet) byType() map[string]metav1.Condition {
	list := s.List()
	result := make(map[string]metav1.Condition, len(list))
	for i := range list {
		result[list[i].Type] = list[i]
	}
	return result
}

// document returns the object if it is a document, nil otherwise.
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

// read returns the conditions as the object holds them: the list of a document, or typed conditions.
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

// fromDocument converts an entry of a document as Get does.
func fromDocument(entry map[string]any) metav1.Condition {
	c := asWritten(entry)
	c.Status = condition.ParseStatus(string(c.Status))
	return c
}

// asWritten converts an entry of a document and keeps its status as it is written. A boolean becomes a text.
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
	index = firstOf(list, conditionType)
	for at := index; at >= 0; {
		count++
		if orEpoch(list[at].LastTransitionTime).After(orEpoch(list[index].LastTransitionTime)) {
			index = at
		}
		next := firstOf(list[at+1:], conditionType)
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return index, count
}

// firstOf returns the index of the first entry of a type, -1 if there is none or the type is empty. It is small enough
// to be inlined, because it runs on every write of a condition.
func firstOf(list []metav1.Condition, conditionType string) int {
	end := len(conditionType) - 1
	for i := range list {
		// Types in one list often differ only at their ends.
		if have := list[i].Type; len(have)-1 == end && end >= 0 && have[end] == conditionType[end] && have == conditionType {
			return i
		}
	}
	return -1
}

func orEpoch(at metav1.Time) time.Time {
	if at.IsZero() {
		return time.Unix(0, 0)
	}
	return at.Time
}
