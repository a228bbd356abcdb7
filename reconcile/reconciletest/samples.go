package reconciletest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Samples returns the objects of a kind, in any version of its group, from YAML and JSON files and folders of them, in
// the order of their files: a test that runs once for each sample that you ship tests also the samples that you add
// later. It fails the test if a file can't be read, or if there is no object of that kind.
func Samples(t T, kind schema.GroupVersionKind, paths ...string) []*unstructured.Unstructured {
	t.Helper()
	var samples []*unstructured.Unstructured
	for _, path := range paths {
		objects, err := readManifests(path)
		if err != nil {
			t.Fatalf("reconciletest: samples: %v", err)
		}
		for _, obj := range objects {
			if obj.GroupVersionKind().GroupKind() == kind.GroupKind() {
				samples = append(samples, obj)
			}
		}
	}
	if len(samples) == 0 {
		t.Fatalf("reconciletest: samples: %s has no object of kind %s: add one", strings.Join(paths, ", "), kind.GroupKind())
	}
	return samples
}

// Objects returns the names of the objects that Render returns for a resource, such as "Deployment web", in the order of
// the components' names, without objects of disabled components.
func (h *Harness) Objects(resource string) []string {
	h.t.Helper()
	var names []string
	for _, component := range h.Render(resource) {
		if component.Disabled {
			continue
		}
		for _, obj := range component.Objects {
			names = append(names, h.nameOf(obj))
		}
	}
	return names
}

// nameOf returns the name of a rendered object, with its namespace if that isn't the namespace of the harness.
func (h *Harness) nameOf(obj *unstructured.Unstructured) string {
	if namespace := obj.GetNamespace(); namespace != "" && namespace != renderNamespace {
		return obj.GetKind() + " " + namespace + "/" + obj.GetName()
	}
	return obj.GetKind() + " " + obj.GetName()
}
