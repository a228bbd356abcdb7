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
	if isNil(s.target) {
		s.unsupported()
		return false
	}
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		removed = removeFromDocument(target.Object, conditionType)
	case map[string]any:
		removed = removeFromDocument(target, conditionType)
	case *[]metav1.Condition:
		*target, removed = removeFromList(*target, conditionType)
	case Accessor:
		var list []metav1.Condition
		if list, removed = removeFromList(target.GetConditions(), conditionType); removed {
			target.SetConditions(list)
		}
	default:
		s.unsupported()
	}
	return removed
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
