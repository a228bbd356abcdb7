package podhash

import (
	"slices"

	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// annotation returns an annotation of the template of an object.
func annotation(obj *unstructured.Unstructured, key string) (value string, found bool) {
	template, _, _ := podtemplate.Find(obj)
	value, found = asMap(asMap(template["metadata"])["annotations"])[key].(string)
	return value, found
}

// annotated returns obj with an annotation in the template at path. It shares everything else with obj. If the metadata
// or the annotations of the template aren't maps, it returns obj: the cluster refuses such an object.
func annotated(obj *unstructured.Unstructured, path []string, key, value string) *unstructured.Unstructured {
	return podtemplate.With(obj, value, append(slices.Clip(path), "metadata", "annotations", key)...)
}
