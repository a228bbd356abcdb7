package status

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
)

// few is up to how many conditions are set one after another. Each time the
// whole list is looked through, so that thousands would take minutes.
const few = 16

// setMany is Set for many valid conditions of different types: each is set into
// a list of what there is of its type, and those become one list again. A
// struct takes them all at once.
func (s *ConditionSet) setMany(now time.Time, list []metav1.Condition) (changed bool) {
	switch target := s.target.(type) {
	case *unstructured.Unstructured:
		if target != nil && target.Object != nil {
			return s.setManyInDocument(now, target.Object, list)
		}
	case map[string]any:
		if target != nil {
			return s.setManyInDocument(now, target, list)
		}
	case *[]metav1.Condition:
		if target != nil {
			result, changed := setManyIn(now, *target, list, s)
			if changed {
				*target = result
			}
			return changed
		}
	default:
		if held, ok := structOf(target); ok {
			s.prepare(now, list)
			changed, err := held.set(list)
			if err != nil {
				s.fail(err)
			}
			return changed
		}
	}
	for i := range list {
		changed = s.Set(now, list[i]) || changed
	}
	return changed
}

// prepare makes valid conditions what Set makes of them before it looks for the
// entries of their types.
func (s *ConditionSet) prepare(now time.Time, list []metav1.Condition) {
	present := s.byType()
	for i := range list {
		c := &list[i]
		c.Message = clip(c.Message, MaxMessageLength)
		if old, ok := present[c.Type]; ok && isOfTheLast(&old, c) && condition.Datable(now) {
			c.LastTransitionTime.Time = now
		}
	}
}

// byType answers what Get does, for all types at once.
func (s *ConditionSet) byType() map[string]metav1.Condition {
	list := s.List()
	result := make(map[string]metav1.Condition, len(list))
	for i := range list {
		result[list[i].Type] = list[i]
	}
	return result
}

func (s *ConditionSet) setManyInDocument(now time.Time, object map[string]any, list []metav1.Condition) (changed bool) {
	if status := condition.Map(object, "status"); condition.Foreign(status) {
		s.fail(foreignList(status))
		return false
	}
	present := mapsOf(condition.List(object))
	groups := grouped(present, typeOf)
	for i := range list {
		c := &list[i]
		part := map[string]any{"status": map[string]any{conditionsKey: groups[c.Type]}}
		set := Conditions(part)
		changed = set.Set(now, *c) || changed
		if set.err != nil {
			s.fail(set.err)
		}
		groups[c.Type] = condition.List(part)
	}
	if !changed {
		return false
	}
	status := condition.Map(object, "status")
	if status == nil {
		status = map[string]any{}
		object["status"] = status
	}
	status[conditionsKey] = ungrouped(present, list, groups, typeOf)
	return true
}

func setManyIn(now time.Time, present, list []metav1.Condition, s *ConditionSet) (result []metav1.Condition, changed bool) {
	typeOf := func(c metav1.Condition) string { return c.Type }
	groups := grouped(present, typeOf)
	for i := range list {
		part := groups[list[i].Type]
		set := Conditions(&part)
		changed = set.Set(now, list[i]) || changed
		if set.err != nil {
			s.fail(set.err)
		}
		groups[list[i].Type] = part
	}
	return ungrouped(present, list, groups, typeOf), changed
}

// grouped gives the elements by their type, in lists of their own.
func grouped[T any](list []T, typeOf func(T) string) map[string][]T {
	groups := make(map[string][]T, len(list))
	for _, element := range list {
		groups[typeOf(element)] = append(groups[typeOf(element)], element)
	}
	return groups
}

// ungrouped puts the groups back to where their elements were, and those of new
// types behind them. Elements without a type are nobody's and stay.
func ungrouped[T any](present []T, added []metav1.Condition, groups map[string][]T, typeOf func(T) string) []T {
	result := make([]T, 0, len(present)+len(added))
	next := make(map[string]int, len(groups))
	for _, element := range present {
		conditionType := typeOf(element)
		if at := next[conditionType]; at < len(groups[conditionType]) {
			result = append(result, groups[conditionType][at])
			next[conditionType] = at + 1
		}
	}
	for i := range added {
		if group := groups[added[i].Type]; next[added[i].Type] == 0 {
			result = append(result, group...)
			next[added[i].Type] = len(group)
		}
	}
	return result
}
