package status

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// element is where a struct that isn't metav1.Condition holds what one holds,
// as the PodCondition and the DeploymentCondition do. The places of what it
// hasn't are nil.
type element struct {
	conditionType, status, reason, message, generation, transition []int
}

var timeType = reflect.TypeFor[metav1.Time]()

// elementOf answers nil for types that are no conditions.
func elementOf(t reflect.Type) *element {
	if t.Kind() != reflect.Struct {
		return nil
	}
	at := func(key string, fits func(reflect.Type) bool) []int {
		index := structs.Index(t, key)
		if index == nil || !fits(t.FieldByIndex(index).Type) {
			return nil
		}
		return index
	}
	isText := func(t reflect.Type) bool { return t.Kind() == reflect.String }
	found := &element{
		conditionType: at(condition.Type, isText),
		status:        at(condition.Status, isText),
		reason:        at(condition.Reason, isText),
		message:       at(condition.Message, isText),
		generation:    at(condition.ObservedGeneration, func(t reflect.Type) bool { return t.Kind() == reflect.Int64 }),
		transition:    at(condition.LastTransitionTime, func(t reflect.Type) bool { return t == timeType || t == reflect.PointerTo(timeType) }),
	}
	if found.conditionType == nil || found.status == nil {
		return nil
	}
	return found
}

func (e *element) read(value reflect.Value) metav1.Condition {
	text := func(index []int) string {
		if field, ok := structs.At(value, index); ok && index != nil {
			return field.String()
		}
		return ""
	}
	c := metav1.Condition{
		Type: text(e.conditionType), Status: metav1.ConditionStatus(text(e.status)),
		Reason: text(e.reason), Message: text(e.message),
	}
	if field, ok := structs.At(value, e.generation); ok && e.generation != nil {
		c.ObservedGeneration = field.Int()
	}
	if field, ok := structs.At(value, e.transition); ok && e.transition != nil {
		if at, ok := condition.ParseTime(field.Interface()); ok {
			c.LastTransitionTime.Time = at
		}
	}
	return c
}

// restrict takes out of a condition what the struct has no place for, so that
// it isn't missed in what is there.
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

func (e *element) write(value reflect.Value, c *metav1.Condition) {
	text := func(index []int, content string) {
		if index == nil {
			return
		}
		if field, ok := structs.Settle(value, index); ok {
			field.SetString(content)
		}
	}
	text(e.conditionType, c.Type)
	text(e.status, string(c.Status))
	text(e.reason, c.Reason)
	text(e.message, c.Message)
	if field, ok := structs.Settle(value, e.generation); ok && e.generation != nil {
		field.SetInt(c.ObservedGeneration)
	}
	if field, ok := structs.Settle(value, e.transition); ok && e.transition != nil {
		at := c.LastTransitionTime
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.ValueOf(&at))
		} else {
			field.Set(reflect.ValueOf(at))
		}
	}
}
