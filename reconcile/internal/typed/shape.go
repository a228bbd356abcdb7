package typed

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Check returns an error if objects can't be converted to T and back. It names all fields that are wrong.
func Check[T any]() error {
	if t := reflect.TypeFor[T](); t != reflect.TypeFor[unstructured.Unstructured]() {
		return shapeOf(t).err
	}
	return nil
}

// shape is what the converter's code doesn't find out, or not without a panic.
type shape struct {
	// err says why objects can't be converted.
	err error
	// shares: a field is an interface. The converter sets such fields to parts of the object itself.
	shares bool
}

// shapes are the shapes by type.
var shapes sync.Map

func shapeOf(t reflect.Type) shape {
	if known, ok := shapes.Load(t); ok {
		return known.(shape)
	}
	var s shape
	if t.Kind() != reflect.Struct {
		s.err = fmt.Errorf("type %s: isn't a struct: use the struct that has the fields of the object", t)
	} else {
		w := walk{seen: map[reflect.Type]bool{}}
		w.visit(t, "")
		s.shares = w.shares
		if len(w.faults) > 0 {
			s.err = fmt.Errorf("type %s: %w", t, errors.Join(w.faults...))
		}
	}
	shapes.Store(t, s)
	return s
}

// walk collects the shape of a type and of all types in it.
type walk struct {
	seen   map[reflect.Type]bool
	shares bool
	faults []error
}

func (w *walk) visit(t reflect.Type, path string) {
	if w.seen[t] || isCustom(t) {
		return
	}
	w.seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		w.shares = true
		if t.NumMethod() > 0 {
			w.wrong(path, "an interface with methods: use a struct, or any")
		}
	case reflect.Pointer, reflect.Slice:
		w.visit(t.Elem(), path)
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			w.wrong(path, "a map whose keys aren't strings: use strings")
		}
		w.visit(t.Elem(), path)
	case reflect.Struct:
		w.visitFields(t, path)
	case reflect.Array, reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.Uintptr, reflect.UnsafePointer:
		w.wrong(path, fmt.Sprintf("%s has no form in an object: use another type, or keep the value elsewhere", t))
	}
}

func (w *walk) visitFields(t reflect.Type, path string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _ := nameOf(field)
		at := strings.TrimPrefix(path+"."+field.Name, ".")
		switch {
		case !field.IsExported() && !(field.Anonymous && field.Type.Kind() == reflect.Struct):
			w.wrong(at, "isn't exported: export it, or keep the value elsewhere")
		case name != "-":
			w.visit(field.Type, at)
		}
	}
}

func (w *walk) wrong(path, what string) {
	w.faults = append(w.faults, fmt.Errorf("field %s: %s", path, what))
}

// isCustom reports whether a type brings its own form.
func isCustom(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// nameOf returns the name of a field in objects, "-" for one that isn't there. inlined: its own fields are fields of
// the struct that it is in.
func nameOf(field reflect.StructField) (name string, inlined bool) {
	name, _, _ = strings.Cut(field.Tag.Get("json"), ",")
	switch {
	case name != "":
		return name, false
	case field.Anonymous:
		return "", true
	}
	return field.Name, false
}
