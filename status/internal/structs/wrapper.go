package structs

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Unwrap answers the unstructured object that a struct embeds, as wrappers with
// methods of their own do, and everything else as it is.
func Unwrap(object any) any {
	if _, isDocument := object.(interface{ UnstructuredContent() map[string]any }); !isDocument {
		return object
	}
	value := reflect.ValueOf(object)
	if value.Kind() != reflect.Pointer || value.IsNil() || value.Elem().Kind() != reflect.Struct {
		return object
	}
	for whole, i := value.Elem(), 0; i < whole.NumField(); i++ {
		field := whole.Field(i)
		if !whole.Type().Field(i).Anonymous || !field.CanInterface() {
			continue
		}
		if field.Kind() != reflect.Pointer {
			field = field.Addr()
		}
		if inner, ok := field.Interface().(*unstructured.Unstructured); ok {
			return inner
		}
	}
	return object
}
