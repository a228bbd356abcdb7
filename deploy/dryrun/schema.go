package dryrun

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// objectSchema is the schema of kinds without a definition. metadata has the same types as on every API server. All
// other fields are typed by their values, which makes all lists atomic.
const objectSchema typed.YAMLObject = `types:
- name: object
  map:
    fields:
    - name: apiVersion
      type: {scalar: string}
    - name: kind
      type: {scalar: string}
    - name: metadata
      type: {namedType: metadata}
    elementType: {namedType: deduced}
- name: metadata
  map:
    fields:
    - name: annotations
      type: {map: {elementType: {scalar: string}}}
    - name: labels
      type: {map: {elementType: {scalar: string}}}
    - name: finalizers
      type:
        list:
          elementType: {scalar: string}
          elementRelationship: associative
    - name: ownerReferences
      type:
        list:
          elementType: {namedType: ownerReference}
          elementRelationship: associative
          keys: [uid]
    elementType: {namedType: atomic}
- name: ownerReference
  map:
    fields:
    - name: uid
      type: {scalar: string}
    elementType: {scalar: untyped}
    elementRelationship: atomic
- name: atomic
  scalar: untyped
  list:
    elementType: {namedType: atomic}
    elementRelationship: atomic
  map:
    elementType: {namedType: atomic}
    elementRelationship: atomic
- name: deduced
  scalar: untyped
  list:
    elementType: {namedType: atomic}
    elementRelationship: atomic
  map:
    elementType: {namedType: deduced}
    elementRelationship: separable
`

var objectType = sync.OnceValues(func() (typed.ParseableType, error) {
	parser, err := typed.NewParser(objectSchema)
	if err != nil {
		return typed.ParseableType{}, fmt.Errorf("schema of objects in memory: %w", err)
	}
	return parser.Type("object"), nil
})

// typeConverter implements managedfields.TypeConverter by the declarations of kinds.
type typeConverter struct{ kinds *kinds }

func (t typeConverter) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	u, err := plain(obj)
	if err != nil {
		return nil, err
	}
	d, err := t.kinds.of(u.GroupVersionKind())
	if err != nil {
		// For this error the field management drops the entries of a version that isn't served any more.
		return nil, runtime.NewNotRegisteredErrForKind("cluster in memory", u.GroupVersionKind())
	}
	object, err := d.object()
	if err != nil {
		return nil, err
	}
	return object.FromUnstructured(u.Object, options...)
}

func (t typeConverter) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	content, ok := value.AsValue().Unstructured().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("merged object is a %T, not a map", value.AsValue().Unstructured())
	}
	return &unstructured.Unstructured{Object: content}, nil
}

func plain(obj runtime.Object) (*unstructured.Unstructured, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return nil, fmt.Errorf("object in memory is a %T, not unstructured", obj)
	}
	return u, nil
}

// complete prunes a new state of a custom resource and sets defaults, by its schema. In an object of a built-in kind,
// it removes empty values.
func (d *declaration) complete(obj *unstructured.Unstructured) {
	switch {
	case d.content != nil:
		tidy(metadataOf(obj)) // fields that aren't stored have no owner
		d.content.complete(obj.Object)
	case d.strict:
		leaveOutEmpty(obj, d)
	}
}

// unknown returns the fields that the declaration doesn't have, and removes them if prune is set. In a custom resource
// it leaves the metadata out.
func (d *declaration) unknown(obj *unstructured.Unstructured, prune bool) []UnknownField {
	switch {
	case d.content != nil:
		return d.content.unknown(obj.Object, prune)
	case !d.strict:
		return nil
	}
	object, err := d.object()
	if err != nil {
		return nil
	}
	return undeclared(object, obj.Object, nil, prune)
}

// undeclared returns the fields of a typed value that its type doesn't have, and removes them if prune is set.
func undeclared(t typed.ParseableType, value any, at *field.Path, prune bool) (found []UnknownField) {
	eachField(t.Schema, value, t.TypeRef, at, func(f typedField) (below bool) {
		if f.ref.NamedType != nil || f.ref.Inlined != (smd.Atom{}) {
			return true
		}
		one := UnknownField{Path: f.path().String()}
		if holder, _ := t.Schema.Resolve(f.holder); holder.Map != nil {
			for _, declared := range holder.Map.Fields {
				one.Beside = append(one.Beside, declared.Name)
			}
		}
		found = append(found, one)
		if prune {
			delete(f.content, f.name)
		}
		return false
	})
	slices.SortFunc(found, func(a, b UnknownField) int { return strings.Compare(a.Path, b.Path) })
	return found
}

// typedField is one field of a map. name is the name of the field, and ref is its type. content is the map, at is the
// path of the map, and holder is its type. declared reports whether holder lists the field by its name. It is false if
// holder is a map with arbitrary names.
type typedField struct {
	content  map[string]any
	name     string
	holder   smd.TypeRef
	at       *field.Path
	ref      smd.TypeRef
	declared bool
}

func (f typedField) path() *field.Path { return f.at.Child(f.name) }

// eachField calls visit for each field of a typed value, and for the fields below it if visit returns true.
func eachField(types *smd.Schema, value any, ref smd.TypeRef, at *field.Path, visit func(f typedField) (below bool)) {
	atom, _ := types.Resolve(ref)
	switch value := value.(type) {
	case map[string]any:
		if atom.Map == nil {
			return
		}
		for name, item := range value {
			f := typedField{content: value, name: name, holder: ref, at: at, ref: atom.Map.ElementType}
			if declared, ok := atom.Map.FindField(name); ok {
				f.ref, f.declared = declared.Type, true
			}
			if visit(f) {
				eachField(types, item, f.ref, f.path(), visit)
			}
		}
	case []any:
		if atom.List != nil {
			for i, item := range value {
				eachField(types, item, atom.List.ElementType, at.Index(i), visit)
			}
		}
	}
}

// strictly returns an error for a custom resource with unknown fields. For other kinds, the field management finds
// unknown fields.
func (d *declaration) strictly(ref deploy.Ref, sent *unstructured.Unstructured) error {
	if d.content == nil {
		return nil
	}
	if unknown := d.unknown(sent, false); len(unknown) > 0 {
		return unknownFields(ref, unknown)
	}
	return nil
}

func unknownFields(ref deploy.Ref, fields []UnknownField) error {
	invalid := &deploy.InvalidError{Ref: ref}
	var problems []error
	for _, unknown := range fields {
		invalid.Causes = append(invalid.Causes, deploy.InvalidField{Field: unknown.Path, Message: "unknown field"})
		problems = append(problems, errors.New("unknown field \""+unknown.Path+"\""))
	}
	invalid.Err = errors.Join(problems...)
	return invalid
}

// refused converts an error of the field management to an error of package deploy.
func refused(d *declaration, ref deploy.Ref, sent *unstructured.Unstructured, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsConflict(err) {
		return &deploy.InvalidError{Ref: ref, Causes: misfits(d, sent), Err: err}
	}
	conflict := &deploy.ConflictError{Ref: ref, Err: err}
	if details := status.Status().Details; details != nil {
		for _, cause := range details.Causes {
			conflict.Fields = append(conflict.Fields, deploy.FieldConflict{Field: cause.Field, Manager: deploy.ManagerOf(cause.Message), Message: cause.Message})
		}
	}
	return conflict
}

// misfits returns the fields of an object whose values don't have the type of the field.
func misfits(d *declaration, sent *unstructured.Unstructured) []deploy.InvalidField {
	object, err := d.object()
	if err != nil {
		return nil
	}
	_, err = object.FromUnstructured(sent.Object)
	var problems typed.ValidationErrors
	if !errors.As(err, &problems) {
		return nil
	}
	var causes []deploy.InvalidField
	for _, problem := range problems {
		causes = append(causes, deploy.InvalidField{Field: strings.TrimPrefix(problem.Path, "."), Message: problem.ErrorMessage})
	}
	return causes
}

// leaveOutEmpty removes nulls, empty lists and empty maps from an object of a built-in kind, because the types of
// built-in kinds don't distinguish them from absent fields. An empty struct stays.
func leaveOutEmpty(obj *unstructured.Unstructured, d *declaration) {
	object, err := d.object()
	if err != nil {
		return
	}
	eachField(object.Schema, obj.Object, object.TypeRef, nil, func(f typedField) (below bool) {
		if f.name == "managedFields" && f.at.String() == "metadata" {
			// An empty list removes all managers. An absent list doesn't.
			return false
		}
		if !f.declared || !leftOut(f.content[f.name], f.ref, object.Schema) {
			return true
		}
		delete(f.content, f.name)
		return false
	})
}

// leftOut reports whether leaveOutEmpty removes a value. It returns false for a value without a type.
func leftOut(value any, ref smd.TypeRef, types *smd.Schema) bool {
	atom, ok := types.Resolve(ref)
	if !ok || isUntyped(atom) {
		return false
	}
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return atom.List != nil && len(value) == 0
	case map[string]any:
		if atom.Map == nil || len(atom.Map.Fields) > 0 || len(value) > 0 {
			return false
		}
		element, ok := types.Resolve(atom.Map.ElementType)
		return ok && element != (smd.Atom{}) && !isUntyped(element)
	}
	return false
}

func isUntyped(atom smd.Atom) bool { return atom.Scalar != nil && *atom.Scalar == smd.Untyped }
