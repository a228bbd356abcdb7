package status

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
)

// Remove takes every entry of a type out of the object and tells whether there
// was one. The object is mutated, nothing else is. The conditions of other
// types stay, and an emptied list stays a list.
func (s *ConditionSet) Remove(conditionType string) (removed bool) {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target != nil {
			return removeFromDocument(target.Object, conditionType)
		}
	case map[string]any:
		if target != nil {
			return removeFromDocument(target, conditionType)
		}
	case *[]metav1.Condition:
		if target != nil {
			*target, removed = removeFromList(*target, conditionType)
			return removed
		}
	case Accessor:
		if !isNil(target) {
			var list []metav1.Condition
			if list, removed = removeFromList(target.GetConditions(), conditionType); removed {
				target.SetConditions(list)
			}
			return removed
		}
	default:
		if held, ok := structOf(target); ok {
			return held.remove(conditionType)
		}
	}
	s.unsupported()
	return false
}

func removeFromDocument(object map[string]any, conditionType string) bool {
	list := condition.List(object)
	_, count := condition.Newest(list, conditionType)
	if count == 0 {
		return false
	}
	rest := make([]any, 0, len(list)-count)
	for _, element := range list {
		entry, ok := element.(map[string]any)
		if ok && condition.Text(entry, condition.Type) != conditionType {
			rest = append(rest, element)
		}
	}
	object["status"].(map[string]any)["conditions"] = rest
	return true
}

func removeFromList(list []metav1.Condition, conditionType string) ([]metav1.Condition, bool) {
	_, count := newestOf(list, conditionType)
	if count == 0 {
		return list, false
	}
	rest := make([]metav1.Condition, 0, len(list)-count)
	for i := range list {
		if list[i].Type != conditionType {
			rest = append(rest, list[i])
		}
	}
	return rest, true
}
