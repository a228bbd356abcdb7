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
	list = slices.Clone(list)
	changed, err := setList(&list, c)
	if changed {
		target.SetConditions(list)
	}
	return changed, err
}

// setList sets in place where an entry exists, and never writes into the spare
// capacity of the list, which may belong to another one.
func setList(target *[]metav1.Condition, c *metav1.Condition) (bool, error) {
	list := *target
	index := firstOf(list, c.Type)
	if index < 0 {
		if err := validateType(c.Type); err != nil {
			return false, err
		}
		added := *c
		added.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
		*target = append(slices.Clip(list), added)
		return true, nil
	}
	if present := &list[index]; firstOf(list[index+1:], c.Type) < 0 {
		if says(present, c) {
			return false, nil
		}
		overwrite(present, c)
		return true, nil
	}
	*target = united(list, c)
	return true, nil
}

// firstOf answers the index of the first entry of a type, -1 without one.
func firstOf(list []metav1.Condition, conditionType string) int {
	end := len(conditionType) - 1
	for i := range list {
		// Types of one list are often alike but for their ends.
		if have := list[i].Type; len(have)-1 == end && end >= 0 && have[end] == conditionType[end] && have == conditionType {
			return i
		}
	}
	return -1
}

// united is a list in which one entry of a type takes the place of several.
func united(list []metav1.Condition, c *metav1.Condition) []metav1.Condition {
	index, count := newestOf(list, c.Type)
	decisive := list[index]
	overwrite(&decisive, c)
	result := make([]metav1.Condition, 0, len(list)-count+1)
	placed := false
	for i := range list {
		if list[i].Type != c.Type {
			result = append(result, list[i])
		} else if !placed {
			result, placed = append(result, decisive), true
		}
	}
	return result
}

// overwrite puts what c says over an entry of its type. The time of the last
// transition stays when the status is the same and there is one.
func overwrite(present, c *metav1.Condition) {
	if present.LastTransitionTime.IsZero() || !sameStatus(present.Status, c.Status) {
		present.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
	}
	present.Status = c.Status
	present.Reason = c.Reason
	present.Message = c.Message
	present.ObservedGeneration = c.ObservedGeneration
}

// sameStatus tells whether a present status, which may be of any form, reads as
// a given one.
func sameStatus(present, given metav1.ConditionStatus) bool {
	switch present {
	case given:
		return true
	case metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown:
		return false
	}
	return condition.ParseStatus(string(present)) == given
}

// says is holds for typed conditions.
func says(present, c *metav1.Condition) bool {
	return !present.LastTransitionTime.IsZero() && present.Status == c.Status && present.Reason == c.Reason &&
		present.Message == c.Message && present.ObservedGeneration == c.ObservedGeneration
}
