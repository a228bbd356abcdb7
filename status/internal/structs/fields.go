package structs

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Field is one field of a struct in its JSON document.
type Field struct {
	// Key is the key in the document, Index the index in the struct, as for reflect.Value.FieldByIndex.
	Key   string
	Index []int

	omitEmpty, omitZero bool
	// tagged reports that the key comes from a tag instead of the Go name.
	tagged bool
}

// known caches the fields of types: reflect.Type to []Field.
var known sync.Map

// Fields returns the fields of a struct type and of its inlined structs. If several fields have one key, the rules of
// encoding/json decide: the outermost field counts, at the same depth the only one with a tag, and otherwise none.
func Fields(t reflect.Type) []Field {
	if fields, ok := known.Load(t); ok {
		return fields.([]Field)
	}
	fields := dominant(collect(t, nil, map[reflect.Type]bool{}))
	known.Store(t, fields)
	return fields
}

// Index returns the index of the field with a key, nil if there is none or if t isn't a struct.
func Index(t reflect.Type, key string) []int {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range Fields(t) {
		if field.Key == key {
			return field.Index
		}
	}
	return nil
}

func collect(t reflect.Type, at []int, path map[reflect.Type]bool) []Field {
	if path[t] {
		return nil // a struct that embeds itself
	}
	path[t] = true
	defer delete(path, t)
	var fields []Field
	for i := range t.NumField() {
		field := t.Field(i)
		index := append(append([]int(nil), at...), i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if inner := inlines(field, name, options); inner != nil {
			fields = append(fields, collect(inner, index, path)...)
			continue
		}
		if !field.IsExported() || field.Tag.Get("json") == "-" {
			continue
		}
		tagged := name != ""
		if !tagged {
			name = field.Name
		}
		fields = append(fields, Field{name, index, contains(options, "omitempty"), contains(options, "omitzero"), tagged})
	}
	return fields
}

// inlines returns the struct type of an inlined field, nil if the field isn't inlined.
func inlines(field reflect.StructField, name, options string) reflect.Type {
	inner := field.Type
	if inner.Kind() == reflect.Pointer {
		inner = inner.Elem()
	}
	inlined := field.Anonymous || field.IsExported() && contains(options, "inline")
	if name == "" && inlined && inner.Kind() == reflect.Struct {
		return inner
	}
	return nil
}

func contains(options, option string) bool {
	return slices.Contains(strings.Split(options, ","), option)
}

// dominant returns at most one field for each key.
func dominant(fields []Field) []Field {
	slices.SortStableFunc(fields, func(a, b Field) int {
		return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(len(a.Index), len(b.Index)), cmp.Compare(untagged(a), untagged(b)))
	})
	var result []Field
	for i, field := range fields {
		if i > 0 && fields[i-1].Key == field.Key {
			continue
		}
		if i+1 < len(fields) && rivals(field, fields[i+1]) {
			continue
		}
		result = append(result, field)
	}
	return result
}

func untagged(f Field) int {
	if f.tagged {
		return 0
	}
	return 1
}

// rivals reports whether two fields have one key and neither hides the other.
func rivals(a, b Field) bool {
	return a.Key == b.Key && len(a.Index) == len(b.Index) && a.tagged == b.tagged
}

// At returns the field at an index, false if the path has a nil pointer.
func At(value reflect.Value, index []int) (reflect.Value, bool) {
	field, err := value.FieldByIndexErr(index)
	return field, err == nil
}

// MakeAt is At for writing: it allocates the nil pointers on the path. It returns false if the field, or a nil pointer
// on the path, can't be set, such as an unexported one.
func MakeAt(value reflect.Value, index []int) (reflect.Value, bool) {
	for _, i := range index {
		if value.Kind() == reflect.Pointer {
			if value.IsNil() {
				if !value.CanSet() {
					return reflect.Value{}, false
				}
				value.Set(reflect.New(value.Type().Elem()))
			}
			value = value.Elem()
		}
		value = value.Field(i)
	}
	return value, value.CanSet()
}

// Unwrap returns the unstructured object that a wrapper struct embeds. It returns every other object unchanged.
func Unwrap(object any) any {
	_, isDocument := object.(interface{ UnstructuredContent() map[string]any })
	if _, isInner := object.(*unstructured.Unstructured); isInner || !isDocument {
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
