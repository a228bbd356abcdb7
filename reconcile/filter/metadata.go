package filter

import (
	"maps"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Generation is true when the generation changed, which the cluster raises with each new spec (spec: watch 29).
func Generation() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return before.GetGeneration() != after.GetGeneration()
	})
}

// WithoutGeneration is true for objects that have no generation, such as ConfigMaps: see Content.
func WithoutGeneration() Predicate {
	return func(event deploy.Event) bool { return event.New != nil && event.New.GetGeneration() == 0 }
}

// ResourceVersion is false for an update that repeats the version that was seen last, and true for all else, objects
// without a version included (spec: watch 29).
func ResourceVersion() Predicate {
	return Not(changed(func(before, after *unstructured.Unstructured) bool {
		version := after.GetResourceVersion()
		return version != "" && version == before.GetResourceVersion()
	}))
}

// Annotations is true when an annotation came, changed or went (spec: watch 29). Those whose keys are named by except
// don't count: what the operator writes itself, such as a lease (spec: watch mistake 8).
func Annotations(except ...string) Predicate {
	return annotationsBut(func(string) bool { return false }, except)
}

// foreign are the parts of keys of annotations that clusters and their tools write.
var foreign = []string{"k8s.io", "kubernetes.io", "openshift.io"}

// UserAnnotations is Annotations without those whose keys contain k8s.io, kubernetes.io or openshift.io (spec:
// watch 29).
func UserAnnotations(except ...string) Predicate {
	return annotationsBut(func(key string) bool {
		return slices.ContainsFunc(foreign, func(part string) bool { return strings.Contains(key, part) })
	}, except)
}

func annotationsBut(ignored func(key string) bool, except []string) Predicate {
	except = slices.Clone(except)
	counted := func(obj *unstructured.Unstructured) map[string]string {
		annotations := obj.GetAnnotations()
		maps.DeleteFunc(annotations, func(key, _ string) bool { return ignored(key) || slices.Contains(except, key) })
		return annotations
	}
	return changed(func(before, after *unstructured.Unstructured) bool {
		return !maps.Equal(counted(before), counted(after))
	})
}

// Labels is true for objects whose labels selector matches; nil matches all. One whose labels cease to match is refused
// from then on, its deletion too. See While for those that begin to match (spec: watch 29).
func Labels(selector labels.Selector) Predicate {
	if selector == nil {
		selector = labels.Everything()
	}
	return func(event deploy.Event) bool {
		return event.New != nil && selector.Matches(labels.Set(event.New.GetLabels()))
	}
}

// LabelsChanged is true when a label came, changed or went.
func LabelsChanged() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return !maps.Equal(before.GetLabels(), after.GetLabels())
	})
}

// Finalizers is true when a finalizer was taken off, which may have been ours. One that came is mostly our own doing:
// Field("metadata", "finalizers") counts these too.
func Finalizers() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		kept := after.GetFinalizers()
		return slices.ContainsFunc(before.GetFinalizers(), func(name string) bool { return !slices.Contains(kept, name) })
	})
}
