package gotype

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/smp/internal/schema"
)

// maxDepth bounds how deep types may be nested.
const maxDepth = 1000

// Read returns the type of the documents that a struct is encoded to. A pointer to a struct is the same as the struct.
func Read(t reflect.Type) (*schema.Type, error) {
	original := t
	for depth := 0; t != nil && t.Kind() == reflect.Pointer && depth < maxDepth; depth++ {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return nil, schema.Errorf(schema.Malformed, "", "nil has no fields: give a struct")
	case t.Kind() != reflect.Struct:
		return nil, schema.Errorf(schema.Malformed, "", "Go type %s has no fields: give a struct", original)
	}
	r := reader{types: map[reflect.Type]*schema.Type{}}
	if r.ownForm(t) != nil {
		return nil, schema.Errorf(schema.Malformed, "", "Go type %s writes its JSON itself: the fields of the struct don't describe it", original)
	}
	root, err := r.read(t, "")
	if err != nil {
		return nil, schema.Errorf(schema.Malformed, "", "Go type %s: %w", original, err)
	}
	return root, nil
}

// reader reads each Go type once, so that reading a recursive type ends.
type reader struct {
	types map[reflect.Type]*schema.Type
	depth int
}

var (
	scalar = &schema.Type{Shape: schema.Scalar}
	anyOf  = &schema.Type{Shape: schema.Any}

	marshaler     = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
	schemaTyper   = reflect.TypeFor[interface{ OpenAPISchemaType() []string }]()
)

// read returns the type of the values of a Go type. name is the name to use for a Go type that has none.
func (r *reader) read(t reflect.Type, name string) (*schema.Type, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, fmt.Errorf("%s: its types are nested deeper than %d", t, maxDepth)
	}
	defer func() { r.depth-- }()
	if known, ok := r.types[t]; ok {
		return known, nil
	}
	if own := r.ownForm(t); own != nil {
		return own, nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return r.read(t.Elem(), name)
	case reflect.Bool, reflect.String, reflect.Float32, reflect.Float64,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return scalar, nil
	case reflect.Interface:
		return anyOf, nil
	case reflect.Struct:
		return r.readStruct(t, name)
	case reflect.Map:
		if !isKey(t.Key()) {
			return nil, fmt.Errorf("%s: its keys can't be keys of a JSON object", t)
		}
		return r.readValues(t, schema.Map, name)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 && r.ownForm(t.Elem()) == nil {
			return scalar, nil
		}
		return r.readValues(t, schema.List, name)
	case reflect.Array:
		return r.readValues(t, schema.List, name)
	default:
		return nil, fmt.Errorf("%s has no form in JSON: leave the field out with the tag `json:\"-\"`", t)
	}
}

// ownForm returns the type of values that write their own JSON, nil for others. For types of Kubernetes it uses the
// types that they declare for OpenAPI documents.
func (r *reader) ownForm(t reflect.Type) *schema.Type {
	if t.Kind() == reflect.Interface {
		return nil
	}
	implements := func(i reflect.Type) bool {
		return t.Implements(i) || t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(i)
	}
	asJSON, asText := implements(marshaler), implements(textMarshaler)
	switch {
	case !asJSON && !asText:
		return nil
	case !asJSON:
		return scalar
	case implements(schemaTyper) && onlyScalars(t):
		return scalar
	case asText && !implements(schemaTyper):
		return scalar
	default:
		return anyOf
	}
}

// onlyScalars calls the method that describes a type in OpenAPI. If the method is promoted from an embedded pointer, it
// can't be called without a value; then the result is false.
func onlyScalars(t reflect.Type) (only bool) {
	defer func() {
		if recover() != nil {
			only = false
		}
	}()
	typer, ok := reflect.New(pointee(t)).Interface().(interface{ OpenAPISchemaType() []string })
	if !ok {
		return false
	}
	types := typer.OpenAPISchemaType()
	return len(types) > 0 && !slices.ContainsFunc(types, func(name string) bool {
		return !slices.Contains([]string{"string", "number", "integer", "boolean"}, name)
	})
}

func isKey(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return true
	default:
		return t.Implements(textMarshaler)
	}
}

func (r *reader) readValues(t reflect.Type, shape schema.Shape, name string) (*schema.Type, error) {
	made := &schema.Type{Shape: shape}
	r.types[t] = made
	values, err := r.read(t.Elem(), name)
	if err != nil {
		return nil, err
	}
	made.Values.Type = values
	return made, nil
}

func (r *reader) readStruct(t reflect.Type, name string) (*schema.Type, error) {
	fields := jsonFields(t)
	made := &schema.Type{Name: typeName(t, name), Shape: schema.Object, Fields: make(map[string]schema.Place, len(fields))}
	r.types[t] = made
	for _, jsonName := range slices.Sorted(maps.Keys(fields)) {
		f := fields[jsonName]
		place, err := r.readField(f, made.Name+"."+jsonName)
		if err != nil {
			return nil, fmt.Errorf("field %s of %s: %w", f.Name, t, err)
		}
		made.Fields[jsonName] = place
	}
	return made, nil
}

func (r *reader) readField(f field, name string) (schema.Place, error) {
	t, err := r.read(f.Type, name)
	if err != nil {
		return schema.Place{}, err
	}
	strategy, err := schema.ParseStrategy(f.Tag.Get("patchStrategy"))
	if err != nil {
		return schema.Place{}, err
	}
	place := schema.Place{Type: t, Strategy: strategy}
	if t.Shape != schema.List || strategy&schema.Merge == 0 {
		return place, nil
	}
	return place, addKey(&place, f)
}

// addKey sets the key of a merged list of objects. Lists of scalars have no key.
func addKey(place *schema.Place, f field) error {
	key := f.Tag.Get("patchMergeKey")
	element := pointee(pointee(f.Type).Elem())
	switch place.Type.Values.Type.Shape {
	case schema.Scalar:
		return nil
	case schema.Object:
		if key == "" {
			return errors.New("patchStrategy merge of a list of structs needs a patchMergeKey")
		}
		if _, found := jsonFields(element)[key]; !found {
			return fmt.Errorf("patchMergeKey %q is no JSON field of %s", key, element)
		}
	case schema.List:
		return errors.New("patchStrategy merge of a list of lists: its elements have no keys to compare")
	}
	if key != "" {
		place.Keys = []schema.Key{{Name: key}}
	}
	return nil
}

func pointee(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// typeName returns the name that Kubernetes gives a Go type in its OpenAPI documents: "io.k8s.api.core.v1.Pod" for
// k8s.io/api/core/v1.Pod.
func typeName(t reflect.Type, otherwise string) string {
	if t.Name() == "" {
		return otherwise
	}
	domain, rest, _ := strings.Cut(t.PkgPath(), "/")
	parts := strings.Split(domain, ".")
	slices.Reverse(parts)
	if rest != "" {
		parts = append(parts, strings.Split(rest, "/")...)
	}
	name := strings.Join(append(parts, t.Name()), ".")
	return strings.ReplaceAll(name, " ", "_")
}
