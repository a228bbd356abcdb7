package status

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operkit/operkit/status/internal/condition"
)

func setAccessor(target Accessor, c *metav1.Condition) (bool, error) {
	list := target.GetConditions()
	if index, count := newestOf(list, c.Type); count == 1 && says(&list[index], c) {
		return false, nil
	}
	// The slice may be shared with what the object was copied from.
	list, changed, err := setList(slices.Clone(list), c)
	if changed {
		target.SetConditions(list)
	}
	return changed, err
}

// setList sets in place where an entry exists, and never writes into the spare
// capacity of the list, which may belong to another one.
func setList(list []metav1.Condition, c *metav1.Condition) ([]metav1.Condition, bool, error) {
	index, count := newestOf(list, c.Type)
	if index < 0 {
		if err := validateType(c.Type); err != nil {
			return list, false, err
		}
		return append(slices.Clip(list), *c), true, nil
	}
	present := &list[index]
	if count == 1 && says(present, c) {
		return list, false, nil
	}
	transition := c.LastTransitionTime
	if condition.ParseStatus(string(present.Status)) == c.Status && !present.LastTransitionTime.IsZero() {
		transition = present.LastTransitionTime
	}
	if count == 1 {
		*present = *c
		present.LastTransitionTime = transition
		return list, true, nil
	}
	result := make([]metav1.Condition, 0, len(list)-count+1)
	placed := false
	for i := range list {
		if list[i].Type != c.Type {
			result = append(result, list[i])
		} else if !placed {
			result, placed = append(result, *c), true
			result[len(result)-1].LastTransitionTime = transition
		}
	}
	return result, true, nil
}

// says is holds for typed conditions.
func says(present, c *metav1.Condition) bool {
	return present.Status == c.Status && present.Reason == c.Reason &&
		present.Message == c.Message && present.ObservedGeneration == c.ObservedGeneration
}
