package dryrun

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const statusSubresource = "status"

// fieldManagers keeps the API machinery's field managers, one for each kind and
// subresource. It is guarded by the lock of its Cluster.
type fieldManagers struct {
	types    managedfields.TypeConverter
	managers map[fieldManagerKey]*managedfields.FieldManager
}

type fieldManagerKey struct {
	kind        schema.GroupVersionKind
	subresource string
}

func newFieldManagers() (*fieldManagers, error) {
	object, err := objectType()
	if err != nil {
		return nil, err
	}
	return &fieldManagers{types: typeConverter{object}, managers: map[fieldManagerKey]*managedfields.FieldManager{}}, nil
}

func (f *fieldManagers) of(kind schema.GroupVersionKind, subresource string) (*managedfields.FieldManager, error) {
	key := fieldManagerKey{kind, subresource}
	if manager, ok := f.managers[key]; ok {
		return manager, nil
	}
	// A write owns only what it may change: of an object all but the status, of the
	// subresource the status alone.
	filter := fieldpath.NewExcludeSetFilter(fieldpath.NewSet(fieldpath.MakePathOrDie("status")))
	if subresource == statusSubresource {
		filter = fieldpath.NewIncludeMatcherFilter(fieldpath.MakePrefixMatcherOrDie("status"))
	}
	manager, err := managedfields.NewDefaultCRDFieldManager(f.types, noConversion{}, noConversion{}, noConversion{},
		kind, kind.GroupVersion(), subresource,
		map[fieldpath.APIVersion]fieldpath.Filter{fieldpath.APIVersion(kind.GroupVersion().String()): filter})
	if err != nil {
		return nil, fmt.Errorf("fields of %s: %w", kind.Kind, err)
	}
	f.managers[key] = manager
	return manager, nil
}

// noConversion makes objects of any kind, without defaults, and turns one version into
// another by the apiVersion alone.
type noConversion struct{}

func (noConversion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	return emptyObject(kind), nil
}

func (noConversion) Default(runtime.Object) {}

func (noConversion) Convert(in, _, _ any) error {
	return fmt.Errorf("conversion of a %T: not possible in memory", in)
}

func (noConversion) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	obj, err := plain(in)
	if err != nil {
		return nil, err
	}
	kind, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{obj.GroupVersionKind()})
	if !ok {
		return nil, fmt.Errorf("%s: has no version %s", obj.GroupVersionKind(), target.Identifier())
	}
	return inVersion(obj, kind.GroupVersion()), nil
}

func (noConversion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func emptyObject(kind schema.GroupVersionKind) *unstructured.Unstructured {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

// inVersion returns obj as version shows it, sharing its content.
func inVersion(obj *unstructured.Unstructured, version schema.GroupVersion) *unstructured.Unstructured {
	if obj.GetAPIVersion() == version.String() {
		return obj
	}
	content := make(map[string]any, len(obj.Object))
	for key, value := range obj.Object {
		content[key] = value
	}
	content["apiVersion"] = version.String()
	return &unstructured.Unstructured{Object: content}
}
