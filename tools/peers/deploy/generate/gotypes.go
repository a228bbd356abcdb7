package main

import (
	"reflect"
	"slices"
	"strings"
)

// collectGoTypes adds the structs of Kubernetes that a Go type contains, by their names in OpenAPI.
func collectGoTypes(types map[string]reflect.Type, t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectGoTypes(types, t.Elem())
		return
	case reflect.Struct:
	default:
		return
	}
	named, ok := reflect.Zero(t).Interface().(interface{ OpenAPIModelName() string })
	if !ok || types[named.OpenAPIModelName()] != nil {
		return
	}
	types[named.OpenAPIModelName()] = t
	for _, field := range fieldsOf(t) {
		collectGoTypes(types, field.goType)
	}
}

// zeros returns the JSON names of the fields of a struct that can't be nil, in ascending order. A server doesn't
// distinguish the zero value of such a field from its absence.
func zeros(t reflect.Type) []string {
	var names []string
	for _, field := range fieldsOf(t) {
		switch field.goType.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		default:
			names = append(names, field.name)
		}
	}
	slices.Sort(names)
	return names
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
