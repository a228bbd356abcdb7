package status

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// IsTrue reports whether the condition is present with status True.
func (s *ConditionSet) IsTrue(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionTrue
}

// IsFalse reports whether the condition is present with status False.
func (s *ConditionSet) IsFalse(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionFalse
}

// IsUnknown reports whether the condition is absent, or its status is neither True nor False.
func (s *ConditionSet) IsUnknown(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionUnknown
}

// IsStale reports whether the condition has an older generation than the object: both have a generation, and the
// condition's observedGeneration is less than the object's metadata.generation. An absent condition is never stale. A
// condition of a bare list is never stale either, because the list has no generation to compare with.
func (s *ConditionSet) IsStale(conditionType string) bool {
	c, _, _ := s.find(conditionType)
	return isStale(c, s.generation())
}

func isStale(c metav1.Condition, generation int64) bool {
	return c.ObservedGeneration > 0 && c.ObservedGeneration < generation
}

// Reason returns the reason of the condition, empty when there is none.
func (s *ConditionSet) Reason(conditionType string) string {
	c, _, _ := s.find(conditionType)
	return c.Reason
}

func (s *ConditionSet) status(conditionType string) metav1.ConditionStatus {
	c, _, _ := s.find(conditionType)
	return condition.ParseStatus(string(c.Status))
}

// generation returns metadata.generation, 0 if it is absent.
func (s *ConditionSet) generation() int64 {
	if object := s.document(); object != nil {
		generation, _ := condition.Integer(condition.Map(object, "metadata")["generation"])
		return generation
	}
	if target, ok := s.target.(interface{ GetGeneration() int64 }); ok {
		if isNil(target) {
			return 0
		}
		return target.GetGeneration()
	}
	return generationOfStruct(reflect.ValueOf(s.target))
}

func generationOfStruct(pointer reflect.Value) int64 {
	if pointer.Kind() != reflect.Pointer || pointer.IsNil() || pointer.Elem().Kind() != reflect.Struct {
		return 0
	}
	metadata, ok := content(pointer.Elem(), structs.Index(pointer.Type().Elem(), "metadata"))
	if !ok || metadata.Kind() != reflect.Struct {
		return 0
	}
	generation, ok := content(metadata, structs.Index(metadata.Type(), "generation"))
	if !ok || !isInteger(generation.Type()) {
		return 0
	}
	return generation.Int()
}
