package status

import (
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// element holds the field indexes of a condition type other than metav1.Condition, such as PodCondition or
// DeploymentCondition. The index of a missing field is nil.
type element struct {
	conditionType, status, reason, message, generation, transition, update []int
	// unwritable is the key of a field whose type can't be written, or empty if there is no such field.
	unwritable string
}

var (
	timeType   = reflect.TypeFor[metav1.Time]()
	goTimeType = reflect.TypeFor[time.Time]()
)

// elementOf returns nil if t isn't a type of conditions.
func elementOf(t reflect.Type) *element {
	if t.Kind() != reflect.Struct {
		return nil
	}
	found := &element{}
	at := func(key string, fits func(reflect.Type) bool) []int {
		index := structs.Index(t, key)
		if index == nil {
			return nil
		}
		if !fits(leaf(t.FieldByIndex(index).Type)) {
			found.unwritable = key
			return nil
		}
		return index
	}
	isText := func(t reflect.Type) bool { return t.Kind() == reflect.String }
	found.conditionType = at(condition.Type, isText)
	found.status = at(condition.Status, isText)
	found.reason = at(condition.Reason, isText)
	found.message = at(condition.Message, isText)
	found.generation = at(condition.ObservedGeneration, isInteger)
	isTime := func(t reflect.Type) bool { return t == timeType || t == goTimeType || isText(t) }
	found.transition = at(condition.LastTransitionTime, isTime)
	if index := structs.Index(t, condition.LastUpdateTime); index != nil && isTime(leaf(t.FieldByIndex(index).Type)) {
		found.update = index
	}
	if found.conditionType == nil || found.status == nil {
		return nil
	}
	return found
}

// leaf returns the type of a field, or the type that it points to.
func leaf(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

func isInteger(t reflect.Type) bool {
	return t.Kind() == reflect.Int || t.Kind() == reflect.Int32 || t.Kind() == reflect.Int64
}

// content returns the field at an index, or the value that it points to. It returns false if there is no value.
func content(value reflect.Value, index []int) (reflect.Value, bool) {
	if index == nil {
		return value, false
	}
	field, ok := structs.At(value, index)
	if ok && field.Kind() == reflect.Pointer {
		field = field.Elem()
	}
	return field, ok && field.IsValid()
}

// fill writes a field. A pointer field gets a new pointer, because the present pointer may be shared. If absent is
// true, a pointer field becomes nil.
func fill(field reflect.Value, absent bool, write func(reflect.Value)) {
	switch {
	case field.Kind() != reflect.Pointer:
		write(field)
	case absent:
		field.SetZero()
	default:
		fresh := reflect.New(field.Type().Elem())
		write(fresh.Elem())
		field.Set(fresh)
	}
}

func (e *element) read(value reflect.Value) metav1.Condition {
	text := func(index []int) string {
		if field, ok := content(value, index); ok {
			return field.String()
		}
		return ""
	}
	c := metav1.Condition{
		Type: text(e.conditionType), Status: metav1.ConditionStatus(text(e.status)),
		Reason: text(e.reason), Message: text(e.message),
	}
	if field, ok := content(value, e.generation); ok {
		c.ObservedGeneration = field.Int()
	}
	if field, ok := content(value, e.transition); ok {
		moment := field.Interface()
		if field.Kind() == reflect.String {
			moment = field.String()
		}
		if at, ok := condition.ParseTime(moment); ok {
			c.LastTransitionTime.Time = at
		}
	}
	return c
}

// restrict clears the parts of a condition that the struct has no field for, so that they don't count as a difference.
func (e *element) restrict(c *metav1.Condition) {
	if e.reason == nil {
		c.Reason = ""
	}
	if e.message == nil {
		c.Message = ""
	}
	if e.generation == nil {
		c.ObservedGeneration = 0
	}
}

// write writes a condition over an element, at a time.
func (e *element) write(value reflect.Value, c *metav1.Condition, at time.Time) {
	put := func(index []int, absent bool, write func(reflect.Value)) {
		if index == nil {
			return
		}
		if field, ok := structs.MakeAt(value, index); ok {
			fill(field, absent, write)
		}
	}
	text := func(index []int, content string) {
		put(index, content == "", func(field reflect.Value) { field.SetString(content) })
	}
	text(e.conditionType, c.Type)
	text(e.status, string(c.Status))
	text(e.reason, c.Reason)
	text(e.message, c.Message)
	put(e.generation, c.ObservedGeneration == 0, func(field reflect.Value) { field.SetInt(c.ObservedGeneration) })
	moment := func(index []int, at time.Time) {
		put(index, false, func(field reflect.Value) {
			switch field.Type() {
			case timeType:
				field.Set(reflect.ValueOf(metav1.NewTime(at)))
			case goTimeType:
				field.Set(reflect.ValueOf(at))
			default:
				field.SetString(at.UTC().Format(time.RFC3339))
			}
		})
	}
	moment(e.transition, c.LastTransitionTime.Time)
	moment(e.update, at)
}
