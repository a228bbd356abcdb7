package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// mergeAlone applies n new objects by structured-merge-diff and nothing else: no copies, no managedFields in the
// objects, no storage.
func mergeAlone(n int) func(b *testing.B) {
	return func(b *testing.B) {
		objects := mixed(n)
		types := applyconfigurations.NewTypeConverter(scheme.Scheme)
		for b.Loop() {
			updater := merge.Updater{Converter: oneVersion{}} //nolint:staticcheck // there is no other way to have one yet
			for _, obj := range objects {
				if err := applyNew(&updater, types, obj); err != nil {
					b.Fatal(err)
				}
			}
		}
	}
}

func applyNew(updater *merge.Updater, types managedfields.TypeConverter, obj *unstructured.Unstructured) error {
	nothing := &unstructured.Unstructured{Object: map[string]any{"apiVersion": obj.GetAPIVersion(), "kind": obj.GetKind()}}
	live, err := types.ObjectToTyped(nothing)
	if err != nil {
		return err
	}
	intent, err := types.ObjectToTyped(obj)
	if err != nil {
		return err
	}
	merged, _, err := updater.Apply(live, intent, fieldpath.APIVersion(obj.GetAPIVersion()), fieldpath.ManagedFields{}, "operkit", false)
	if err != nil {
		return err
	}
	_, err = types.TypedToObject(merged)
	return err
}

// oneVersion is a converter for objects of a single version, which converts nothing.
type oneVersion struct{}

func (oneVersion) Convert(object *typed.TypedValue, _ fieldpath.APIVersion) (*typed.TypedValue, error) {
	return object, nil
}

func (oneVersion) IsMissingVersionError(error) bool { return false }
