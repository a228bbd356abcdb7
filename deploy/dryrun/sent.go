package dryrun

import (
	"math"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// asSent copies obj by the way it would take to a server.
func asSent(obj *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	if text(obj.Object["kind"]) != "" && obj.Object["items"] == nil {
		if content, ok := sent(obj.Object); ok {
			return &unstructured.Unstructured{Object: content.(map[string]any)}, nil
		}
	}
	body, err := obj.MarshalJSON()
	if err != nil {
		return nil, err
	}
	out := &unstructured.Unstructured{}
	return out, out.UnmarshalJSON(body)
}

// exactInteger ends the range of floats that JSON writes as the integers that they are.
const exactInteger = 1 << 53

// sent is a value as it is after its way as JSON; ok is false where only JSON itself can tell.
func sent(value any) (_ any, ok bool) {
	switch v := value.(type) {
	case nil, bool, int64:
		return v, true
	case string:
		return v, utf8.ValidString(v)
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case float64:
		if whole := math.Trunc(v); whole == v {
			return int64(whole), math.Abs(v) < exactInteger
		}
		return v, !math.IsNaN(v)
	case map[string]any:
		if v == nil {
			return nil, true
		}
		out := make(map[string]any, len(v))
		for key, item := range v {
			copied, ok := sent(item)
			if !ok || !utf8.ValidString(key) {
				return nil, false
			}
			out[key] = copied
		}
		return out, true
	case []any:
		if v == nil {
			return nil, true
		}
		out := make([]any, len(v))
		for i, item := range v {
			copied, ok := sent(item)
			if !ok {
				return nil, false
			}
			out[i] = copied
		}
		return out, true
	}
	return nil, false
}
