package render

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/operkit/operkit/reconcile/internal/document"
	"github.com/operkit/operkit/reconcile/internal/plain"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object converts what a user may pass as an object to the plain form: maps, lists, strings, booleans, int64 and
// float64. An object that has that form already is returned as it is; of all others the result is a copy.
func Object(value any) (*unstructured.Unstructured, error) {
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
		return nil, fmt.Errorf("a value of type %T isn't an object: pass an API struct, an apply configuration, or a plain object", value)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed.Interface())
	if err != nil {
		return nil, fmt.Errorf("an object of type %T can't be converted: %w", value, err)
	}
	return content, nil
}

// ErrNoObject is the error of YAML about a text without objects.
var ErrNoObject = errors.New("YAML: the text holds no object")

// YAML returns the objects in a text: one or several documents. Empty documents are ignored, and a List stands for its
// items.
func YAML(text string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	var errs []error
	for _, d := range document.Split(text) {
		value, problems := d.Decode()
		for _, p := range problems {
			errs = append(errs, fmt.Errorf("YAML: line %d: %s", d.Line+max(p.Line, 1)-1, p.Text))
		}
		if len(problems) > 0 || value == nil {
			continue
		}
		found, err := document.Objects(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("YAML: line %d: %w", d.FirstLine(), err))
		}
		for _, content := range found {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
	if len(objects) == 0 && len(errs) == 0 {
		errs = append(errs, ErrNoObject)
	}
	return objects, errors.Join(errs...)
}
