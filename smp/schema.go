package smp

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operkit/operkit/smp/internal/schema"
	"github.com/operkit/operkit/smp/internal/schema/builtin"
	"github.com/operkit/operkit/smp/internal/schema/gotype"
	"github.com/operkit/operkit/smp/internal/schema/openapi"
)

// Schema describes how the fields of one kind merge: which lists merge by which keys, which maps are replaced, and
// which fields the kind has.
//
// Make one with [SchemaFor], [SchemaFromOpenAPI], [SchemaFromCRD] or [SchemaFromType], once for each kind: it never
// changes and is safe for concurrent use. The zero value is the schema of an unknown kind (see [Schema.Known]).
type Schema struct {
	kind  kschema.GroupVersionKind
	place schema.Place
}

// SchemaFor returns the schema of Kubernetes' own stable kinds: every kind with a version v1, v2 and so on in the
// groups that each cluster has, including CustomResourceDefinition and APIService. For every other kind, even one with
// the same name in another group, the schema isn't known.
//
// A kind is read on the first call; later calls cost one look-up in a map.
func SchemaFor(gvk kschema.GroupVersionKind) Schema {
	return Schema{kind: gvk, place: schema.Place{Type: builtin.Type(gvk)}}
}

// Known reports whether the schema's kind is known.
func (s Schema) Known() bool { return s.place.Type != nil }

// String returns the kind of the schema, or "unknown" if the kind isn't known. [Schema.Describe] returns the content.
func (s Schema) String() string {
	name := s.kind.Kind
	if name != "" {
		name = s.kind.GroupVersion().String() + " " + name
	} else if s.Known() {
		name = s.place.Type.Name
	}
	if !s.Known() {
		name += " (unknown)"
	}
	return strings.TrimSpace(name)
}

// checkKind returns an error for a document of another kind than the schema's. It accepts another version of the kind,
// and a document without a kind.
func (s Schema) checkKind(doc map[string]any) error {
	kind, hasKind := doc["kind"].(string)
	apiVersion, hasVersion := doc["apiVersion"].(string)
	if s.kind.Kind == "" || !s.Known() || !hasKind {
		return nil
	}
	groupVersion, err := kschema.ParseGroupVersion(apiVersion)
	if kind == s.kind.Kind && (!hasVersion || err != nil || groupVersion.Group == s.kind.Group) {
		return nil //nolint:nilerr // a group that can't be read isn't known to be another one
	}
	return &PatchError{Path: "/kind", Kind: UnknownType, Err: fmt.Errorf(
		"the schema is for %s, the document is a %s of %q: give the schema of the document's kind", s, kind, apiVersion)}
}

// Field describes how patches of one field merge.
type Field struct {
	// Type is the type of the field's values: "scalar", "any" when nothing is known, the name of an object's type, or
	// one of these after "[]" for lists and "map[string]" for maps.
	Type string
	// Strategy is the patch strategy, as in struct tags: "merge", "replace", "retainKeys", or several with commas
	// between them. If it is empty, maps merge and lists are replaced as a whole.
	Strategy string
	// Keys identify the elements of a merged list of objects. A merged list without keys is a set of scalars.
	Keys []string
}

// String returns the field in the notation of [Schema.Describe].
func (f Field) String() string {
	words := []string{f.Type, f.Strategy, strings.Join(f.Keys, ",")}
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return word == "" }), " ")
}

// Lookup returns how a field merges, for example the field spec, template, spec, containers of a Deployment. Elements
// of lists have no name: the fields of a container are directly below containers. A map has every field. Without names,
// Lookup returns how the document itself merges.
//
// found is false for a field that the kind doesn't have, and for every field of an unknown kind.
func (s Schema) Lookup(fields ...string) (field Field, found bool) {
	if !s.Known() {
		return Field{}, false
	}
	place := s.place
	for _, name := range fields {
		t := place.Type
		for depth := 0; t != nil && t.Shape == schema.List && depth < defaultMaxDepth; depth++ {
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

// Describe writes the whole schema for people to read: a block for each type of object, the
// kind's own first, with a line for each field: its name, its type, its strategy and its keys.
//
//	type io.k8s.api.core.v1.Container
//	  args []scalar
//	  env []io.k8s.api.core.v1.EnvVar merge name
//
// A type marked "open" may have other fields too. For an unknown kind the text is empty. For a large kind it has a
// thousand lines. Programs shouldn't parse it.
func (s Schema) Describe() string {
	if !s.Known() {
		return ""
	}
	return schema.Text(s.place.Type)
}

// schemaError turns an error about the description of a type into a PatchError.
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

// SchemaFromOpenAPI reads the schema of a kind from an OpenAPI v3 document in JSON, as API servers
// serve one for each group and version, for example at /openapi/v3/apis/apps/v1.
//
// x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key define how a field merges. Without these,
// x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type define it, as in the schema of a custom
// resource. For Kubernetes' own types these three are ignored, because the API server merges those types only by the
// first two.
//
// Errors are of kind [UnknownType], with a list of the kinds in the document; [Document], with the part that can't be
// read; or [Limit], if the document is nested too deeply.
func SchemaFromOpenAPI(document []byte, gvk kschema.GroupVersionKind) (Schema, error) {
	root, err := openapi.FromDocument(document, gvk)
	if err != nil {
		return Schema{}, schemaError(err, gvk.GroupVersion().String()+" "+gvk.Kind)
	}
	return Schema{kind: gvk, place: schema.Place{Type: root}}, nil
}

// SchemaFromCRD reads the schema of a custom resource from a version of its
// CustomResourceDefinition of apiextensions.k8s.io/v1.
//
// A list with x-kubernetes-list-type map merges by its x-kubernetes-list-map-keys. If an element lacks one of these
// fields, the default of the field is used. A set of scalars merges as a set. Every other list is replaced. A map with
// x-kubernetes-map-type atomic is replaced. An object that preserves unknown fields may have any field. Metadata,
// including the metadata of embedded resources, merges as in every kind.
//
// The definition isn't changed and isn't needed afterwards. Errors are of kind [UnknownType], with a list of the
// versions of the definition; [Document], with the part that can't be read; or [Limit], if the schema is nested too
// deeply.
func SchemaFromCRD(crd map[string]any, version string) (Schema, error) {
	root, kind, err := openapi.FromCRD(crd, version)
	if err != nil {
		return Schema{}, schemaError(err, resourceOf(crd))
	}
	return Schema{kind: kind, place: schema.Place{Type: root}}, nil
}

// SchemaFromType reads the schema of a Go struct. The example is a value of the struct, a pointer to it, which may be
// nil, or its [reflect.Type].
//
// Fields are found as in encoding/json, by their json tags; the fields of embedded structs are inlined. The tags
// patchStrategy and patchMergeKey define how fields merge, as in k8s.io/api:
//
//	Ports []Port `json:"ports" patchStrategy:"merge" patchMergeKey:"name"`
//
// A type that writes its own JSON is a scalar if it also writes text, or if its method OpenAPISchemaType describes a
// scalar, as for types of Kubernetes. The content of other types that write their own JSON is unknown.
//
// An error of kind [Document] names the field that can't be read. The schema has no kind: it fits all documents of the
// struct.
func SchemaFromType(example any) (Schema, error) {
	t, ok := example.(reflect.Type)
	if !ok {
		t = reflect.TypeOf(example)
	}
	root, err := gotype.Read(t)
	if err != nil {
		return Schema{}, schemaError(err, "")
	}
	return Schema{place: schema.Place{Type: root}}, nil
}
