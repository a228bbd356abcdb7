package status

import (
	"reflect"
	"slices"

	"github.com/operkit/operkit/status/internal/condition"
)

// oldTimes are keys that are never compared. ownTimes are keys that aren't compared in own conditions.
var (
	oldTimes = []string{condition.LastTransactionTime}
	ownTimes = []string{condition.LastTransactionTime, condition.LastTransitionTime}
)

// Changed reports whether two statuses differ in more than the framework's own timestamps. It compares the top-level
// conditions as a set, in any order, and without the lastTransitionTime of the Application's own conditions (Ready,
// Updating, Reconciling, Stalled). It never compares lastTransactionTime, which oper8 wrote. It compares everything
// else exactly: a missing key isn't null, missing conditions aren't an empty list, and 1 isn't 1.0. It returns true if
// either side isn't a map, such as nil.
func Changed(before, after any) bool {
	a, _ := before.(map[string]any)
	b, _ := after.(map[string]any)
	if a == nil || b == nil {
		return true
	}
	return !sameMap(a, b, oldTimes, func(key string, x, y any) bool {
		if key == conditionsKey {
			return sameConditions(x, y)
		}
		return same(x, y)
	})
}

// sameMap compares two maps and ignores the keys in without.
func sameMap(a, b map[string]any, without []string, sameValue func(key string, x, y any) bool) bool {
	if count(a, without) != count(b, without) {
		return false
	}
	for key, x := range a {
		if slices.Contains(without, key) {
			continue
		}
		y, present := b[key]
		if !present || !sameValue(key, x, y) {
			return false
		}
	}
	return true
}

func count(document map[string]any, without []string) int {
	n := len(document)
	for _, key := range without {
		if _, present := document[key]; present {
			n--
		}
	}
	return n
}

func same(x, y any) bool {
	switch x := x.(type) {
	case map[string]any:
		y, ok := y.(map[string]any)
		return ok && (x == nil) == (y == nil) && sameMap(x, y, oldTimes, sameAt)
	case []any:
		y, ok := y.([]any)
		return ok && (x == nil) == (y == nil) && slices.EqualFunc(x, y, same)
	case nil, string, bool, int64, float64:
		return x == y
	}
	return reflect.DeepEqual(x, y)
}

func sameAt(_ string, x, y any) bool { return same(x, y) }

func sameConditions(x, y any) bool {
	a, isA := x.([]any)
	b, isB := y.([]any)
	if !isA || !isB || len(a) != len(b) {
		return !isA && !isB && same(x, y)
	}
	return slices.EqualFunc(a, b, sameCondition) || sameSet(a, b)
}

// sameSet compares conditions in any order. It compares the n-th entry of a type with the n-th entry of that type in
// the other list.
func sameSet(a, b []any) bool {
	rest := make(map[string][]any, len(b))
	for _, element := range b {
		conditionType := typeOf(element)
		rest[conditionType] = append(rest[conditionType], element)
	}
	for _, element := range a {
		conditionType := typeOf(element)
		others := rest[conditionType]
		if len(others) == 0 || !sameCondition(element, others[0]) {
			return false
		}
		rest[conditionType] = others[1:]
	}
	return true
}

func sameCondition(x, y any) bool {
	a, isA := x.(map[string]any)
	b, isB := y.(map[string]any)
	if isA && isB && slices.Contains(ownTypes[:], typeOf(a)) {
		return sameMap(a, b, ownTimes, sameAt)
	}
	return same(x, y)
}

func typeOf(element any) string {
	entry, _ := element.(map[string]any)
	return condition.Text(entry, condition.Type)
}

// cloneMap returns a deep copy of a JSON-like document. nil becomes an empty map. Values of types that JSON doesn't
// have are shared, because this package never writes to them.
func cloneMap(document map[string]any) map[string]any {
	result := make(map[string]any, len(document)+1)
	for key, value := range document {
		result[key] = clone(value)
	}
	return result
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		return cloneMap(value)
	case []any:
		if value == nil {
			return value
		}
		result := make([]any, len(value))
		for i, element := range value {
			result[i] = clone(element)
		}
		return result
	case []map[string]any:
		if value == nil {
			return value
		}
		result := make([]map[string]any, len(value))
		for i, element := range value {
			if element != nil {
				result[i] = cloneMap(element)
			}
		}
		return result
	}
	return value
}
