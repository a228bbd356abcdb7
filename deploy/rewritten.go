package deploy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// rewritten returns where the cluster has stored something else than was sent: each Change says what the intent has and
// what the object has now. Admission does so, and a schema that drops a field. What the cluster adds or writes in
// another form isn't among them, and neither is what was left to others. It is nil where only metadata was answered.
func (t *task) rewritten(result Result) []Change {
	stored := result.Object
	if t.in == nil || stored == nil || result.Err != nil || !t.wrote(result.Action) || isBare(stored) && !isBare(t.in.object) {
		return nil
	}
	if within(t.in.object.Object, stored.Object, sameValue) {
		return nil // nearly always
	}
	wanted := withoutScaled(t.in.object, stored, t.fieldManager)
	return slices.DeleteFunc(t.changes(wanted, stored), func(c Change) bool {
		return isAbsent(c.Before) || sameInOtherForm(c.Before, c.After) || slices.ContainsFunc(result.Kept, func(kept FieldConflict) bool {
			return c.Path == kept.Field || strings.HasPrefix(c.Path, kept.Field+".") || strings.HasPrefix(c.Path, kept.Field+"[")
		})
	})
}

// wrote reports whether action says that the whole intent was written.
func (t *task) wrote(action Action) bool {
	switch action {
	case Created, Replaced, Recreated:
		return true
	case Configured:
		return t.in.strategy != CreateOnly && t.in.strategy != OnDelete
	}
	return false
}

// isBare reports whether obj has nothing but metadata.
func isBare(obj *unstructured.Unstructured) bool {
	for field := range obj.Object {
		if field != "apiVersion" && field != "kind" && field != "metadata" {
			return false
		}
	}
	return true
}

// isAbsent reports whether value is one that the cluster may as well leave out.
func isAbsent(value any) bool {
	fields, isMap := value.(map[string]any)
	if !isMap {
		return isZero(value)
	}
	for _, field := range fields {
		if !isAbsent(field) {
			return false
		}
	}
	return true
}

// sameInOtherForm reports whether two values mean the same, such as the quantities 1000m and 1, or are one list in
// another order.
func sameInOtherForm(a, b any) bool {
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	if isListA || isListB {
		return isListA && isListB && len(listA) == len(listB)
	}
	if isAbsent(b) {
		return false
	}
	textA, textB := fmt.Sprint(a), fmt.Sprint(b)
	quantityA, errA := resource.ParseQuantity(textA)
	quantityB, errB := resource.ParseQuantity(textB)
	if errA == nil && errB == nil {
		return quantityA.Cmp(quantityB) == 0
	}
	timeA, errA := time.Parse(time.RFC3339Nano, textA)
	timeB, errB := time.Parse(time.RFC3339Nano, textB)
	return errA == nil && errB == nil && timeA.Equal(timeB)
}
