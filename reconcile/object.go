package reconcile

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"
)

// toObject converts what a user may pass as an object to the plain form: maps, lists,
// strings, booleans, int64 and float64. An object that has that form already is passed on as
// it is and never changed; of all others the result is a copy.
func toObject(value any) (*unstructured.Unstructured, error) {
	content, err := contentOf(value)
	if err != nil {
		return nil, err
	}
	obj, given := value.(*unstructured.Unstructured)
	if !given || !isPlain(content) {
		if content, err = plain(content); err != nil {
			return nil, fmt.Errorf("an object of type %T can't be converted: %w", value, err)
		}
		obj = &unstructured.Unstructured{Object: content}
	}
	if obj.GetKind() == "" || obj.GetAPIVersion() == "" {
		return nil, fmt.Errorf("an object of type %T (name %q) has no apiVersion and kind: set its TypeMeta or use an apply configuration",
			value, obj.GetName())
	}
	return obj, nil
}

func contentOf(value any) (map[string]any, error) {
	var content map[string]any
	switch v := value.(type) {
	case nil:
	case *unstructured.Unstructured:
		if v != nil {
			content = v.Object
		}
	case map[string]any:
		content = v
	default:
		return typedContent(value)
	}
	if content == nil {
		return nil, errors.New("an object is nil")
	}
	return content, nil
}

func typedContent(value any) (map[string]any, error) {
	typed := reflect.ValueOf(value)
	if typed.Kind() != reflect.Pointer {
		pointer := reflect.New(typed.Type())
		pointer.Elem().Set(typed)
		typed = pointer
	}
	if typed.IsNil() {
		return nil, fmt.Errorf("an object of type %T is nil", value)
	}
	if typed.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("a value of type %T is no object: pass an API struct, an apply configuration, or a plain object", value)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed.Interface())
	if err != nil {
		return nil, fmt.Errorf("an object of type %T can't be converted: %w", value, err)
	}
	return content, nil
}

// plain returns content in the plain form, a copy if it isn't.
func plain(content map[string]any) (map[string]any, error) {
	if isPlain(content) {
		return content, nil
	}
	document, err := json.Marshal(content)
	if err != nil {
		return nil, err
	}
	var out map[string]any
	return out, json.Unmarshal(document, &out)
}

func isPlain(value any) bool {
	switch v := value.(type) {
	case nil, string, bool, int64, float64:
		return true
	case map[string]any:
		for _, item := range v {
			if !isPlain(item) {
				return false
			}
		}
		return true
	case []any:
		for _, item := range v {
			if !isPlain(item) {
				return false
			}
		}
		return true
	}
	return false
}
