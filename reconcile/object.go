package reconcile

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// toObject converts what a user may pass as an object to the plain form: maps, lists,
// strings, booleans, int64 and float64. An object that has that form already is passed on as
// it is and never changed; of all others the result is a copy.
func toObject(value any) (*unstructured.Unstructured, error) {
	if deferred, ok := value.(Deferred); ok {
		return deferred.standIn()
	}
	content, err := contentOf(value)
	if err != nil {
		return nil, err
	}
	obj, given := value.(*unstructured.Unstructured)
	if !given || !plain.Is(content) {
		if content, err = plain.Map(content); err != nil {
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
	case YAML:
		objects, err := v.objects()
		if err == nil && len(objects) > 1 {
			err = fmt.Errorf("YAML: the text holds %d objects: add each by a name of its own, or all by Session.Add", len(objects))
		}
		if err != nil {
			return nil, err
		}
		content = objects[0].Object
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
