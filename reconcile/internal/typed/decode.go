package typed

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Decode returns an object as a T, which is a struct with JSON tags or unstructured.Unstructured. Fields that T doesn't
// have are left out. The result shares nothing with the object. The error names the object and the field that T can't
// hold, or it is Check's. As in all of apimachinery, an integer that is too large for its field is cut.
func Decode[T any](object map[string]any) (*T, error) {
	value := new(T)
	if u, ok := any(value).(*unstructured.Unstructured); ok {
		u.Object = runtime.DeepCopyJSON(object)
		return value, nil
	}
	s := shapeOf(reflect.TypeFor[T]())
	if s.err != nil {
		return nil, s.err
	}
	if s.shares {
		object = runtime.DeepCopyJSON(object)
	}
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(object, value)
	if err == nil {
		return value, nil
	}
	field, found := fault(object, func(part any) bool {
		content, _ := part.(map[string]any)
		return runtime.DefaultUnstructuredConverter.FromUnstructured(content, new(T)) == nil
	})
	return nil, fmt.Errorf("%s: %s: %T can't hold %s there: %w", refOf(object), strings.TrimPrefix(field, "."), *value, describe(found), err)
}

func refOf(object map[string]any) deploy.Ref {
	return deploy.RefOf(&unstructured.Unstructured{Object: object})
}

// fault returns the first field within value that can't be read, and its path. reads reports whether a part of the
// value can be read.
func fault(value any, reads func(part any) bool) (path string, found any) {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			within := func(part any) bool { return reads(map[string]any{key: part}) }
			if !within(v[key]) {
				path, found = fault(v[key], within)
				return "." + key + path, found
			}
		}
	case []any:
		for i, item := range v {
			within := func(part any) bool { return reads([]any{part}) }
			if !within(item) {
				path, found = fault(item, within)
				return fmt.Sprintf("[%d]%s", i, path), found
			}
		}
	}
	return "", value
}

// describe returns the form of a value in words. The value itself may be a secret.
func describe(value any) string {
	switch value.(type) {
	case map[string]any:
		return "a map"
	case []any:
		return "a list"
	case string:
		return "a string"
	case bool:
		return "a boolean"
	case float64:
		return "a fraction"
	}
	return "a number"
}
