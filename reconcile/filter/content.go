package filter

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/operkit/operkit/status"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Top-level fields that aren't the content of an object. Content ignores observed.
var (
	header   = []string{"apiVersion", "kind", "metadata"}
	observed = append(slices.Clone(header), "status")
)

// Content is true when a field outside metadata and status was added, changed or removed. It is for kinds without a
// generation; for other kinds Generation has the same result and costs less. See Field for a View that shows only the
// metadata of objects.
func Content() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return areHidden(before, after) || contentDiffers(before.Object, after.Object) || contentDiffers(after.Object, before.Object)
	})
}

// contentDiffers reports whether fields of one are missing in other, or have other values there.
func contentDiffers(one, other map[string]any) bool {
	for key, value := range one {
		if slices.Contains(observed, key) {
			continue
		}
		if found, ok := other[key]; !ok || !reflect.DeepEqual(value, found) {
			return true
		}
	}
	return false
}

// Field is true when the value at path was added, changed or removed: Field("spec", "replicas"), or Field("spec",
// "ports", "0") for an entry of a list. Without a path it compares the whole object. If a View shows only metadata, a
// change of other fields can't be seen, so Field is true for each new version.
func Field(path ...string) Predicate {
	path = slices.Clone(path)
	inHeader := len(path) > 0 && slices.Contains(header, path[0])
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, had := at(before, path)
		is, has := at(after, path)
		return had != has || !reflect.DeepEqual(was, is) || !inHeader && areHidden(before, after)
	})
}

// ReadyReason is true when the reason of the condition Ready changed. It is for resources that are children of others.
func ReadyReason() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, _ := status.Conditions(before).Get(status.ConditionReady)
		is, _ := status.Conditions(after).Get(status.ConditionReady)
		return was.Reason != is.Reason || areHidden(before, after)
	})
}

// Condition is true when the status or the reason of the condition of a type changed, also when the condition appeared
// or was removed. Changes of its message and of other conditions don't count.
func Condition(conditionType string) Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, had := status.Conditions(before).Get(conditionType)
		is, has := status.Conditions(after).Get(conditionType)
		return had != has || was.Status != is.Status || was.Reason != is.Reason || areHidden(before, after)
	})
}

// areHidden reports whether hidden content may have changed: both states have only metadata, and their versions differ.
func areHidden(before, after *unstructured.Unstructured) bool {
	for _, obj := range []*unstructured.Unstructured{before, after} {
		for key := range obj.Object {
			if !slices.Contains(header, key) {
				return false
			}
		}
	}
	return before.GetResourceVersion() != after.GetResourceVersion()
}

// at returns the value at path, if there is one.
func at(obj *unstructured.Unstructured, path []string) (any, bool) {
	var value any = obj.Object
	for _, step := range path {
		switch inner := value.(type) {
		case map[string]any:
			next, ok := inner[step]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			index, err := strconv.Atoi(step)
			if err != nil || index < 0 || index >= len(inner) {
				return nil, false
			}
			value = inner[index]
		default:
			return nil, false
		}
	}
	return value, true
}
