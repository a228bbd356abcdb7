package main

import (
	"reflect"
	"slices"
	"strings"
)

// collectZeros adds the fields that can't be nil, for a Go type and all types in it: the JSON names of the fields in
// ascending order, by the type's name in OpenAPI. A server doesn't distinguish the zero value of such a field from its
// absence.
func collectZeros(zeros map[string][]string, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectZeros(zeros, t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok {
		return
	}
	name := named.OpenAPIModelName()
	if _, known := zeros[name]; known {
		return
	}
	zeros[name] = nil
	for _, field := range fieldsOf(t) {
		collectZeros(zeros, field.goType)
		switch field.goType.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		default:
			zeros[name] = append(zeros[name], field.name)
		}
	}
	slices.Sort(zeros[name])
}

type goField struct {
	name   string
	goType reflect.Type
}

// fieldsOf returns the fields of a struct in JSON, including the fields of inlined structs.
func fieldsOf(t reflect.Type) []goField {
	var fields []goField
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name != "" && name != "-":
			fields = append(fields, goField{name, field.Type})
		case field.Anonymous && name == "" && field.Type.Kind() == reflect.Struct:
			fields = append(fields, fieldsOf(field.Type)...)
		}
	}
	return fields
}
