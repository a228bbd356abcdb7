package smp

import (
	"errors"
	"slices"
	"strings"

	"github.com/operkit/operkit/smp/internal/schema"
)

// Field says how patches of one field merge.
type Field struct {
	// Type is what values of the field are: "scalar", "any" when nothing is known, the name of an
	// object's type, or one of those after "[]" for lists and "map[string]" for maps.
	Type string
	// Strategy is the patch strategy, as in struct tags: "merge", "replace", "retainKeys", or several
	// with commas between them. Without one maps merge and lists are replaced whole.
	Strategy string
	// Keys tell the elements of a merged list of objects apart. A merged list without keys is a set
	// of scalars.
	Keys []string
}

// String is the field in the notation of [Schema.Describe].
func (f Field) String() string {
	words := []string{f.Type, f.Strategy, strings.Join(f.Keys, ",")}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// Lookup says how a field merges, for example the field spec, template, spec, containers of a
// Deployment. Elements of lists have no name of their own: the fields of a container are those
// below containers. A map has every field. Without a name the result is the document's own.
//
// found is false for a field that the kind doesn't have, and for every field of an unknown kind.
func (s Schema) Lookup(fields ...string) (field Field, found bool) {
	if !s.Known() {
		return Field{}, false
	}
	place := s.place
	for _, name := range fields {
		t := place.Type
		for depth := 0; t != nil && t.Shape == schema.List && depth < DefaultMaxDepth; depth++ {
			t = t.Values.Type
		}
		if place, found = t.Field(name); !found {
			return Field{}, false
		}
	}
	field = Field{Type: schema.Expression(place.Type), Strategy: place.Strategy.String()}
	for _, key := range place.Keys {
		field.Keys = append(field.Keys, key.String())
	}
	return field, true
}

// Describe writes all that the schema says, for people to read: a block for each type of object, the
// kind's own first, with a line for each field: its name, its type, its strategy and its keys.
//
//	type io.k8s.api.core.v1.Container
//	  args []scalar
//	  env []io.k8s.api.core.v1.EnvVar merge name
//
// A type marked "open" may have other fields too. Of an unknown kind there is nothing to write. The
// text of a large kind has a thousand lines; it is no format to be read by programs.
func (s Schema) Describe() string {
	if !s.Known() {
		return ""
	}
	return schema.Text(s.place.Type)
}

// schemaError makes the error of this package of one in the description of a type.
func schemaError(err error, resource string) error {
	var wrong *schema.Error
	if !errors.As(err, &wrong) {
		return &PatchError{Resource: resource, Kind: Document, Err: err}
	}
	kind := Document
	switch wrong.Reason {
	case schema.Missing:
		kind = UnknownType
	case schema.TooDeep:
		kind = Limit
	}
	return &PatchError{Resource: resource, Path: wrong.Path, Kind: kind, Err: wrong.Err}
}
