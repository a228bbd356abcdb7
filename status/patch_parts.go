package status

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// withKnown is a condition in the form of metav1.Condition, with its unknown
// fields.
func withKnown(entry map[string]any, lacking []string) map[string]any {
	result := cloneMap(entry)
	delete(result, condition.LastTransactionTime)
	for key, value := range known(entry, lacking) {
		result[key] = value
	}
	return result
}

// known is a condition in the form of metav1.Condition and nothing else, without
// the keys that the Go type of the object hasn't got.
func known(entry map[string]any, lacking []string) map[string]any {
	c := fromDocument(entry)
	result := map[string]any{
		condition.Type: c.Type, condition.Status: string(c.Status), condition.Reason: c.Reason, condition.Message: c.Message,
	}
	if !c.LastTransitionTime.IsZero() {
		result[condition.LastTransitionTime] = wholeSeconds(c.LastTransitionTime.Time).Format(time.RFC3339)
	}
	if c.ObservedGeneration != 0 {
		result[condition.ObservedGeneration] = c.ObservedGeneration
	}
	for _, key := range lacking {
		delete(result, key)
	}
	return result
}

// lackingIn answers the keys for which the conditions of a typed object have no
// place: its schema refuses them. Documents tell nothing of theirs.
func lackingIn(object any) []string {
	held, ok := structOf(object)
	if !ok || held.element == nil {
		return nil
	}
	var keys []string
	for key, index := range map[string][]int{
		condition.Reason: held.element.reason, condition.Message: held.element.message,
		condition.ObservedGeneration: held.element.generation, condition.LastTransitionTime: held.element.transition,
	} {
		if index == nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// ownedOf answers the own conditions in the order of the types.
func ownedOf(object map[string]any, owned, lacking []string) []any {
	list := condition.List(object)
	result := []any{}
	for i, conditionType := range owned {
		if entry := condition.Find(list, conditionType); entry != nil && !slices.Contains(owned[:i], conditionType) {
			result = append(result, known(entry, lacking))
		}
	}
	return result
}

// sameOwned compares all but the transition times, which can't differ without
// the status.
func sameOwned(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		return sameMap(x.(map[string]any), y.(map[string]any), ownTimes, sameAt)
	})
}

// repaired tells whether an own condition reads alike and is written otherwise:
// its status in the form of metav1.Condition, or once instead of several times.
func repaired(old, next map[string]any, owned []string) bool {
	before, after := condition.List(old), condition.List(next)
	for _, conditionType := range owned {
		at, count := condition.Newest(before, conditionType)
		to, rest := condition.Newest(after, conditionType)
		if count != rest {
			return true
		}
		if count > 0 && !same(before[at].(map[string]any)[condition.Status], after[to].(map[string]any)[condition.Status]) {
			return true
		}
	}
	return false
}

// documentOf answers an object as a document, without copying it if it is one.
func documentOf(object any) (map[string]any, error) {
	switch object := target(object).(type) {
	case *unstructured.Unstructured:
		if object != nil && object.Object != nil {
			return object.Object, nil
		}
	case map[string]any:
		if object != nil {
			return object, nil
		}
	default:
		value := reflect.ValueOf(object)
		if value.Kind() == reflect.Pointer && !value.IsNil() && value.Elem().Kind() == reflect.Struct {
			if _, isList := object.(*metav1.Condition); !isList {
				if document, ok := structs.Document(value.Elem(), "spec").(map[string]any); ok {
					return document, nil
				}
				return nil, fmt.Errorf("patch of %s: %w: its JSON form is no object", nameOf(object), ErrUnsupportedObject)
			}
		}
	}
	return nil, fmt.Errorf("patch of %s: %w: use a non-nil *unstructured.Unstructured, map[string]any or pointer to a struct", nameOf(object), ErrUnsupportedObject)
}
