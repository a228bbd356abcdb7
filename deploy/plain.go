package deploy

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// deepest is how deep a manifest may be nested; API servers take less. What contains itself is deeper.
const deepest = 1000

// plainCopy is a copy of obj as the API server would read it. What can't be sent is an *InvalidManifestError.
func plainCopy(obj *unstructured.Unstructured, ref Ref) (*unstructured.Unstructured, error) {
	content, err := plainMap(obj.Object)
	if err != nil {
		return nil, &InvalidManifestError{Ref: ref, Reason: strings.TrimPrefix(err.Error(), ".")}
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// plainMap copies a JSON object as the API server would read it: integers are int64, and
// entries that are null are left out, since to apply a null is to own an absent field.
func plainMap(content map[string]any) (map[string]any, error) { return plainMapOf(content, deepest) }

func plainMapOf(content map[string]any, depth int) (map[string]any, error) {
	if depth < 0 {
		return nil, errTooDeep
	}
	out := make(map[string]any, len(content))
	for key, item := range content {
		if item == nil {
			continue
		}
		copied, err := plain(item, depth-1)
		if err != nil {
			return nil, nested(err, "."+key, depth)
		}
		out[key] = copied
	}
	return out, nil
}

var errTooDeep = errors.New(": it is nested too deeply, or contains itself")

// nested puts the place in front of what is wrong there, but not a thousand places.
func nested(err error, place string, depth int) error {
	if errors.Is(err, errTooDeep) && depth < deepest-10 {
		return err
	}
	return fmt.Errorf("%s%w", place, err)
}

func plain(value any, depth int) (any, error) {
	switch v := value.(type) {
	case nil, string, bool, int64:
		return v, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf(": %v is not a JSON value", v)
		}
		return v, nil
	case int:
		return int64(v), nil
	case int32:
		return int64(v), nil
	case map[string]any:
		return plainMapOf(v, depth)
	case []any:
		if depth < 0 {
			return nil, errTooDeep
		}
		out := make([]any, len(v))
		for i, item := range v {
			copied, err := plain(item, depth-1)
			if err != nil {
				return nil, nested(err, fmt.Sprintf("[%d]", i), depth)
			}
			out[i] = copied
		}
		return out, nil
	}
	return nil, fmt.Errorf(": %T is not a JSON value", value)
}
