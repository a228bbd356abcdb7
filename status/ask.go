package status

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// IsTrue tells whether the condition is present with status True.
func (s *ConditionSet) IsTrue(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionTrue
}

// IsFalse tells whether the condition is present with status False.
func (s *ConditionSet) IsFalse(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionFalse
}

// IsUnknown tells whether nothing is known: the condition is absent, or its
// status is neither True nor False.
func (s *ConditionSet) IsUnknown(conditionType string) bool {
	return s.status(conditionType) == metav1.ConditionUnknown
}

// IsStale tells whether the condition speaks of an older generation than the
// object has: both its own observedGeneration and the object's
// metadata.generation are there, and the former is less. An absent condition
// isn't stale, and a bare list has no generation to compare with.
//
// spec: status 24
func (s *ConditionSet) IsStale(conditionType string) bool {
	document, list := s.read()
	var observed int64
	if entry := condition.Find(document, conditionType); entry != nil {
		observed, _ = condition.Integer(entry[condition.ObservedGeneration])
	} else if index, _ := newestOf(list, conditionType); index >= 0 {
		observed = list[index].ObservedGeneration
	}
	return isStale(metav1.Condition{ObservedGeneration: observed}, s.generation())
}

func isStale(c metav1.Condition, generation int64) bool {
	return c.ObservedGeneration > 0 && c.ObservedGeneration < generation
}

// Reason answers the reason of the condition, empty when there is none.
func (s *ConditionSet) Reason(conditionType string) string {
	document, list := s.read()
	if entry := condition.Find(document, conditionType); entry != nil {
		return condition.Text(entry, condition.Reason)
	}
	if index, _ := newestOf(list, conditionType); index >= 0 {
		return list[index].Reason
	}
	return ""
}

func (s *ConditionSet) status(conditionType string) metav1.ConditionStatus {
	document, list := s.read()
	if entry := condition.Find(document, conditionType); entry != nil {
		return condition.StatusOf(entry)
	}
	if index, _ := newestOf(list, conditionType); index >= 0 {
		return condition.ParseStatus(string(list[index].Status))
	}
	return metav1.ConditionUnknown
}

// generation answers metadata.generation, 0 when absent.
func (s *ConditionSet) generation() int64 {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target == nil {
			return 0
		}
		return generationOf(target.Object)
	case map[string]any:
		return generationOf(target)
	case interface{ GetGeneration() int64 }:
		if !isNil(target) {
			return target.GetGeneration()
		}
	default:
		return generationOfStruct(reflect.ValueOf(target))
	}
	return 0
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

func generationOf(object map[string]any) int64 {
	generation, _ := condition.Integer(condition.Map(object, "metadata")["generation"])
	return generation
}
