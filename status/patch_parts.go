package status

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/internal/structs"
)

// withKnown returns a condition in the form of metav1.Condition, together with its unknown fields.
func withKnown(entry map[string]any, lacking []string) map[string]any {
	result := cloneMap(entry)
	delete(result, condition.LastTransactionTime)
	if result[condition.LastTransitionTime] == nil { // a struct without a time has null
		delete(result, condition.LastTransitionTime)
	}
	maps.Copy(result, sent(entry, lacking))
	return result
}

// sent returns the known part of a condition, without a reason or a message that the entry doesn't have.
func sent(entry map[string]any, lacking []string) map[string]any {
	result := known(entry, lacking)
	for _, key := range [...]string{condition.Reason, condition.Message} {
		if _, present := entry[key]; !present {
			delete(result, key)
		}
	}
	return result
}

// known returns only the fields of metav1.Condition, without the keys that the Go type of the object lacks.
func known(entry map[string]any, lacking []string) map[string]any {
	result := condition.Document(fromDocument(entry))
	for _, key := range lacking {
		delete(result, key)
	}
	return result
}

// lackingIn returns the keys that the condition type of a typed object doesn't have, because the object's schema
// refuses these keys. For a document it returns nil, because its schema isn't known.
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

// ownedOf returns the owned conditions in the order of the types, in one of the forms known and sent.
func ownedOf(object map[string]any, owned, lacking []string, form func(map[string]any, []string) map[string]any) []any {
	list := condition.List(object)
	result := []any{}
	for i, conditionType := range owned {
		if entry := condition.Find(list, conditionType); entry != nil && !slices.Contains(owned[:i], conditionType) {
			result = append(result, form(entry, lacking))
		}
	}
	return result
}

// sendable returns an error if a new or changed owned condition is one that the API server would refuse. An unchanged
// condition isn't checked, because the API server has accepted it before.
func sendable(old, next map[string]any, owned []string) error {
	before, after := condition.List(old), condition.List(next)
	for _, conditionType := range owned {
		present, entry := condition.Find(before, conditionType), condition.Find(after, conditionType)
		if entry == nil || present != nil && same(known(present, nil), known(entry, nil)) {
			continue
		}
		c := fromDocument(entry)
		if _, there := entry[condition.Reason]; !there {
			c.Reason = reasonUnspecified
		}
		if err := Validate(c); err != nil {
			return fmt.Errorf("%w: %w", ErrPatch, err)
		}
		if _, there := entry[condition.LastTransitionTime]; there && c.LastTransitionTime.IsZero() {
			return fmt.Errorf("%w: condition %q: %w for its transition", ErrPatch, c.Type, ErrNoTime)
		}
	}
	return nil
}

// sameOwned compares everything except the transition times, which change only with the status.
func sameOwned(a, b []any) bool {
	return slices.EqualFunc(a, b, func(x, y any) bool {
		return sameMap(x.(map[string]any), y.(map[string]any), ownTimes, sameAt)
	})
}

// repaired reports whether an owned condition has the same meaning in next but a different form: its status has the
// form of metav1.Condition, its missing time is set, or it has one entry instead of several.
func repaired(old, next map[string]any, owned []string) bool {
	before, after := condition.List(old), condition.List(next)
	for _, conditionType := range owned {
		at, count := condition.Newest(before, conditionType)
		to, rest := condition.Newest(after, conditionType)
		if count != rest {
			return true
		}
		if count == 0 {
			continue
		}
		present, entry := before[at].(map[string]any), after[to].(map[string]any)
		_, wasDated := condition.Transition(present)
		_, isDated := condition.Transition(entry)
		if wasDated != isDated || !same(present[condition.Status], entry[condition.Status]) {
			return true
		}
	}
	return false
}

// documentOf returns an object as a document. It doesn't copy an object that is a document already.
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
				return nil, fmt.Errorf("patch of %s: %w: its JSON form isn't an object", nameOf(object), ErrUnsupportedObject)
			}
		}
	}
	return nil, fmt.Errorf("patch of %s: %w: use a non-nil *unstructured.Unstructured, map[string]any or pointer to a struct", nameOf(object), ErrUnsupportedObject)
}
