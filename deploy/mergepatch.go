package deploy

import (
	"encoding/json"
	"reflect"

	apijson "k8s.io/apimachinery/pkg/util/json"
)

// sameMap reports whether a and b are the same map, so that their content needn't be compared.
func sameMap(a, b map[string]any) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer()
}

// asJSON returns value as the API server would return it: plain maps and lists, integers as int64, without null fields.
// Only this form can be compared with the status that a read returns.
func asJSON(value map[string]any) (map[string]any, error) {
	if isJSON(value) {
		return value, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	if err := apijson.Unmarshal(text, &out); err != nil {
		return nil, err
	}
	return plainMap(out)
}

// isJSON reports whether asJSON would return value unchanged. It may return false for fractions.
func isJSON(value any) bool {
	switch v := value.(type) {
	case string, bool, int64:
		return true
	case map[string]any:
		for _, item := range v {
			if !isJSON(item) {
				return false
			}
		}
		return v != nil
	case []any:
		for _, item := range v {
			if item != nil && !isJSON(item) {
				return false
			}
		}
		return v != nil
	}
	return false
}

// mergeDifference returns the merge patch (RFC 7386) that turns before into after.
func mergeDifference(before, after map[string]any) map[string]any {
	patch := map[string]any{}
	for key := range before {
		if _, kept := after[key]; !kept {
			patch[key] = nil
		}
	}
	for key, value := range after {
		old, existed := before[key]
		oldMap, oldIsMap := old.(map[string]any)
		newMap, newIsMap := value.(map[string]any)
		switch {
		case existed && oldIsMap && newIsMap:
			if below := mergeDifference(oldMap, newMap); len(below) > 0 {
				patch[key] = below
			}
		case !existed || !reflect.DeepEqual(old, value):
			patch[key] = value
		}
	}
	return patch
}
