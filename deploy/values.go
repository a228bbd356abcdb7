package deploy

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	"github.com/operkit/operkit/deploy/internal/value"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// sameValue reports whether two plain values are equal. Numbers are compared by value, whatever their types.
func sameValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, sameValue)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, sameValue)
	}
	return sameScalar(a, b)
}

// sameScalar is like sameValue, for two values of which at least one is a scalar.
func sameScalar(a, b any) bool {
	return reflect.DeepEqual(number(a), number(b))
}

// number returns a number as int64 if it is integral and exact. It returns other values unchanged.
func number(value any) any {
	switch v := value.(type) {
	case int:
		return int64(v)
	case int32:
		return int64(v)
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	}
	return value
}

// equality returns the comparison for values of an object. For kinds of which the API server stores quantities in
// another form, it compares quantities by value.
func equality(live *unstructured.Unstructured) func(want, have any) bool {
	kind := live.GroupVersionKind()
	if isBuiltIn(kind.Group) && kind.Kind != "ConfigMap" && kind.Kind != "Secret" {
		return sameStored
	}
	return sameValue
}

// sameStored is like sameValue, but a quantity also equals the form in which the API server stores it.
func sameStored(want, have any) bool {
	stored := value.CanonicalQuantity(want)
	return sameValue(want, have) || stored != nil && stored == have
}

// sameInOtherForm reports whether two values are equivalent, such as the quantities 1000m and 1, or lists in another
// order.
func sameInOtherForm(a, b any) bool {
	listA, isListA := a.([]any)
	listB, isListB := b.([]any)
	if isListA || isListB {
		return isListA && isListB && len(listA) == len(listB)
	}
	if isAbsent(b) {
		return false
	}
	if value.SameQuantity(a, b) {
		return true
	}
	timeA, errA := time.Parse(time.RFC3339Nano, fmt.Sprint(a))
	timeB, errB := time.Parse(time.RFC3339Nano, fmt.Sprint(b))
	return errA == nil && errB == nil && timeA.Equal(timeB)
}

// within reports whether have contains all fields of want. Zero values may be missing, and have may have further
// fields. same compares scalars.
func within(want, have any, same func(want, have any) bool) bool {
	switch want := want.(type) {
	case map[string]any:
		content, ok := have.(map[string]any)
		for name, item := range want {
			below, there := content[name]
			if !there && !isZero(item) || there && !within(item, below, same) {
				return false
			}
		}
		return ok || len(want) == 0
	case []any:
		list, _ := have.([]any)
		return slices.EqualFunc(want, list, func(want, have any) bool { return within(want, have, same) })
	}
	return same(want, have)
}

// isZero reports whether value is the zero value of its type.
func isZero(value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return isEmpty(value)
	}
	return value == nil || reflect.ValueOf(value).IsZero()
}

// isAbsent reports whether the cluster may leave value out: it is a zero value, or a map of such values.
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

// isEmpty reports whether value is a map or list without content.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		return len(v) == 0
	case []any:
		return len(v) == 0
	}
	return false
}

func isEmptyMap(value any) bool {
	content, isMap := value.(map[string]any)
	return isMap && len(content) == 0
}

// mapsOf returns the items of a list that are maps.
func mapsOf(value any) []map[string]any { return mapsIn[map[string]any](value) }

// mapsIn is like mapsOf, for items of another type.
func mapsIn[T ~map[string]any](value any) []T {
	list, _ := value.([]any)
	items := make([]T, 0, len(list))
	for _, item := range list {
		if fields, isMap := item.(map[string]any); isMap {
			items = append(items, fields)
		}
	}
	return items
}
