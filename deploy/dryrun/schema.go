package dryrun

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// objectSchema is how objects of an undeclared kind merge: metadata as on every API server, the rest
// as far as the values themselves tell, which makes all lists atomic.
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
		// Of a version that is no more the field management drops what was owned.
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
		return nil, fmt.Errorf("merged object is a %T, no map", value.AsValue().Unstructured())
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
