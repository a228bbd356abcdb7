package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
)

// arrange puts the conditions of some types first, in the order of the types,
// and tells whether that changed anything. The others stay in their order.
func (s *ConditionSet) arrange(types []string) bool {
	document, list := s.read()
	if s.err != nil {
		return false
	}
	ranks := make([]int, 0, len(document)+len(list))
	rank := func(conditionType string) {
		at := slices.Index(types, conditionType)
		if at < 0 {
			at = len(types)
		}
		ranks = append(ranks, at)
	}
	for _, element := range document {
		rank(typeOf(element))
	}
	for i := range list {
		rank(list[i].Type)
	}
	if slices.IsSorted(ranks) {
		return false
	}
	order := make([]int, len(ranks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return ranks[a] - ranks[b] })
	s.reorder(order)
	return true
}

func (s *ConditionSet) reorder(order []int) {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		reorderDocument(target.Object, order)
	case map[string]any:
		reorderDocument(target, order)
	case *[]metav1.Condition:
		*target = pick(*target, order)
	case Accessor:
		target.SetConditions(pick(target.GetConditions(), order))
	default:
		if held, ok := structOf(target); ok {
			held.pick(order, nil)
		}
	}
}

func reorderDocument(object map[string]any, order []int) {
	object["status"].(map[string]any)[conditionsKey] = pick(condition.List(object), order)
}

func pick[T any](list []T, order []int) []T {
	result := make([]T, len(order))
	for to, from := range order {
		result[to] = list[from]
	}
	return result
}
