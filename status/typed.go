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
	index, count := newestOf(list, c.Type)
	if index < 0 {
		if err := validateType(c.Type); err != nil {
			return false, err
		}
		added := *c
		added.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
		*target = append(slices.Clip(list), added)
		return true, nil
	}
	present := &list[index]
	if count == 1 {
		if says(present, c) {
			return false, nil
		}
		overwrite(present, c)
		return true, nil
	}
	decisive := *present
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
	*target = result
	return true, nil
}

// overwrite puts what c says over an entry of its type. The time of the last
// transition stays when the status is the same and there is one.
func overwrite(present, c *metav1.Condition) {
	if present.Status != c.Status || present.LastTransitionTime.IsZero() {
		if condition.ParseStatus(string(present.Status)) != c.Status || present.LastTransitionTime.IsZero() {
			present.LastTransitionTime.Time = wholeSeconds(c.LastTransitionTime.Time)
		}
		present.Status = c.Status
	}
	present.Reason = c.Reason
	present.Message = c.Message
	present.ObservedGeneration = c.ObservedGeneration
}

// says is holds for typed conditions.
func says(present, c *metav1.Condition) bool {
	return present.Status == c.Status && present.Reason == c.Reason &&
		present.Message == c.Message && present.ObservedGeneration == c.ObservedGeneration
}
