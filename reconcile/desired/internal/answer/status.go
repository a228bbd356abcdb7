package answer

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"github.com/operkit/operkit/status"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Status is a status that a function has returned.
type Status map[string]any

// ReadStatus returns a value as a Status, without nulls. nil is no status, a nil Status.
func ReadStatus(value any) (Status, error) {
	if value == nil {
		return nil, nil
	}
	content, err := plain.Value(value)
	if err != nil {
		return nil, fmt.Errorf("status of type %T can't be converted: %w", value, err)
	}
	fields, ok := content.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("status of type %T isn't an object: use a struct or a map", value)
	}
	return withoutNulls(fields), nil
}

func withoutNulls(content map[string]any) map[string]any {
	kept := make(map[string]any, len(content))
	for key, value := range content {
		switch v := value.(type) {
		case nil:
		case map[string]any:
			kept[key] = withoutNulls(v)
		default:
			kept[key] = value
		}
	}
	return kept
}

// Over returns the status that replaces present, and reports whether they differ. Fields that s doesn't have are
// removed, except conditions of types that s doesn't have. The time of a condition moves only with its status. The
// status is about the given generation. present isn't changed.
func (s Status) Over(present map[string]any, generation int64, now time.Time) (next map[string]any, changed bool, err error) {
	next = maps.Clone(s)
	if next == nil {
		next = map[string]any{}
	}
	next["observedGeneration"] = generation
	delete(next, "conditions")
	object := map[string]any{"status": next}
	if kept, ok := present["conditions"].([]any); ok {
		next["conditions"] = runtime.DeepCopyJSONValue(kept)
	}
	given, err := s.conditions()
	if err != nil {
		return nil, false, err
	}
	set := status.Conditions(object)
	for _, condition := range given {
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = generation
		}
		set.Set(now, condition)
	}
	if err := set.Err(); err != nil {
		return nil, false, fmt.Errorf("status.conditions: %w", err)
	}
	next, _ = object["status"].(map[string]any)
	return next, !reflect.DeepEqual(next, present), nil
}

// With returns the status with a condition, unless it has one of that type, or isn't there. nil adds none.
func (s Status) With(condition *metav1.Condition) Status {
	given, err := s.conditions()
	isOwn := func(c metav1.Condition) bool { return c.Type == condition.Type }
	if s == nil || condition == nil || err != nil || slices.ContainsFunc(given, isOwn) {
		return s
	}
	next := maps.Clone(s)
	conditions, _ := s["conditions"].([]any)
	next["conditions"] = append(slices.Clone(conditions), map[string]any{
		"type": condition.Type, "status": string(condition.Status), "reason": condition.Reason, "message": condition.Message,
	})
	return next
}

// Check returns what is wrong with the conditions of a status.
func (s Status) Check(now time.Time) error {
	_, _, err := s.Over(nil, 0, now)
	return err
}

// conditions returns the conditions of a status, without their times.
func (s Status) conditions() (given []metav1.Condition, err error) {
	value, ok := s["conditions"]
	if !ok {
		return nil, nil
	}
	list, ok := value.([]any)
	if !ok {
		return nil, errors.New("status.conditions: isn't a list: return a list of conditions")
	}
	for i, item := range list {
		fields, _ := item.(map[string]any)
		var condition metav1.Condition
		fields = maps.Clone(fields)
		delete(fields, "lastTransitionTime")
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &condition); err != nil || condition.Type == "" {
			return nil, fmt.Errorf("status.conditions[%d]: isn't a condition: set its type, status and reason", i)
		}
		given = append(given, condition)
	}
	return given, nil
}
