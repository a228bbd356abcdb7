package filter

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// Generation is true when the generation changed. The API server raises the generation with each new spec.
func Generation() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return generation(before) != generation(after)
	})
}

// generation returns the generation of an object, zero if it has none. It is called for every event.
func generation(obj *unstructured.Unstructured) int64 {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	number, _ := metadata["generation"].(int64)
	return number
}

// WithoutGeneration is true for objects that have no generation, such as ConfigMaps: see Content.
func WithoutGeneration() Predicate {
	return func(event deploy.Event) bool { return event.New != nil && generation(event.New) == 0 }
}

// Leasing is true for an update that takes or releases an object for one of several replicas and changes nothing else.
// Use Not(Leasing()) in your own filter to refuse these updates.
func Leasing() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return differInLeases(before, after) && isRepeated(before, after)
	})
}

// differInLeases is called for every event, so it copies nothing.
func differInLeases(before, after *unstructured.Unstructured) bool {
	was, is := rawAnnotations(before), rawAnnotations(after)
	return hasOtherLeases(was, is) || hasOtherLeases(is, was)
}

func rawAnnotations(obj *unstructured.Unstructured) map[string]any {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	return annotations
}

// hasOtherLeases reports whether one has leases that other hasn't.
func hasOtherLeases(one, other map[string]any) bool {
	for key, value := range one {
		if isLease(key) && !reflect.DeepEqual(value, other[key]) {
			return true
		}
	}
	return false
}

// withoutLeases returns the content of obj without its leases, without the fields that every write changes, and without
// empty annotations.
func withoutLeases(obj *unstructured.Unstructured) map[string]any {
	content := maps.Clone(obj.Object)
	metadata, ok := content["metadata"].(map[string]any)
	if !ok {
		return content
	}
	metadata = maps.Clone(metadata)
	content["metadata"] = metadata
	delete(metadata, "resourceVersion")
	delete(metadata, "managedFields")
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		return content
	}
	annotations = maps.Clone(annotations)
	maps.DeleteFunc(annotations, func(key string, _ any) bool { return isLease(key) })
	if metadata["annotations"] = annotations; len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return content
}

// differIn reports whether one of the annotations has another value.
func differIn(annotations []string, before, after *unstructured.Unstructured) bool {
	was, is := rawAnnotations(before), rawAnnotations(after)
	return slices.ContainsFunc(annotations, func(key string) bool { return !reflect.DeepEqual(was[key], is[key]) })
}

// withAnnotationsOf returns obj with the annotations that other has of these keys.
func withAnnotationsOf(other, obj *unstructured.Unstructured, keys []string) *unstructured.Unstructured {
	content, metadata := map[string]any{}, map[string]any{}
	maps.Copy(content, obj.Object)
	inner, _ := content["metadata"].(map[string]any)
	maps.Copy(metadata, inner)
	annotations, values := map[string]any{}, rawAnnotations(other)
	maps.Copy(annotations, rawAnnotations(obj))
	for _, key := range keys {
		if annotations[key] = values[key]; values[key] == nil {
			delete(annotations, key)
		}
	}
	if metadata["annotations"] = annotations; len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	content["metadata"] = metadata
	return &unstructured.Unstructured{Object: content}
}

// isRepeated reports whether two states differ at most in what every write changes, and in leases.
func isRepeated(before, after *unstructured.Unstructured) bool {
	return !areHidden(before, after) && reflect.DeepEqual(withoutLeases(before), withoutLeases(after))
}

// finalizersAdded is true for an update that adds finalizers and changes nothing else.
func finalizersAdded() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		if len(rawFinalizers(after)) <= len(rawFinalizers(before)) || Finalizers()(deploy.Event{Type: deploy.Modified, Old: before, New: after}) {
			return false
		}
		same := before.DeepCopy()
		same.SetFinalizers(after.GetFinalizers())
		return isRepeated(same, after)
	})
}

func rawFinalizers(obj *unstructured.Unstructured) []any {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	finalizers, _ := metadata["finalizers"].([]any)
	return finalizers
}

// ResourceVersion is false for an update that repeats the version that was seen last, and true for everything else,
// including objects without a version.
func ResourceVersion() Predicate {
	return Not(changed(func(before, after *unstructured.Unstructured) bool {
		version := after.GetResourceVersion()
		return version != "" && version == before.GetResourceVersion()
	}))
}

// Annotations is true when an annotation was added, changed or removed. The keys in except don't count: name the
// annotations that the operator writes itself. Keys that end in /lease-name and /lease-time, by which replicas take and
// release objects, don't count either.
func Annotations(except ...string) Predicate {
	return annotationsBut(func(string) bool { return false }, except)
}

// foreign are parts of the keys of annotations that clusters and their tools write.
var foreign = []string{"k8s.io", "kubernetes.io", "openshift.io"}

// leases are the ends of the keys of annotations by which one of several replicas holds an object.
var leases = []string{"/lease-name", "/lease-time"}

func isLease(key string) bool {
	return slices.ContainsFunc(leases, func(end string) bool { return strings.HasSuffix(key, end) })
}

// UserAnnotations is like Annotations, but keys that contain k8s.io, kubernetes.io or openshift.io don't count.
func UserAnnotations(except ...string) Predicate {
	return annotationsBut(func(key string) bool {
		return slices.ContainsFunc(foreign, func(part string) bool { return strings.Contains(key, part) })
	}, except)
}

func annotationsBut(ignored func(key string) bool, except []string) Predicate {
	except = slices.Clone(except)
	counted := func(obj *unstructured.Unstructured) map[string]string {
		annotations := obj.GetAnnotations()
		maps.DeleteFunc(annotations, func(key, _ string) bool {
			return isLease(key) || ignored(key) || slices.Contains(except, key)
		})
		return annotations
	}
	return changed(func(before, after *unstructured.Unstructured) bool {
		return !maps.Equal(counted(before), counted(after))
	})
}

// Labels is true for objects whose labels selector matches; nil matches all. Events of an object whose labels no longer
// match are refused, including its deletion. See While for objects that begin to match.
func Labels(selector labels.Selector) Predicate {
	if selector == nil {
		selector = labels.Everything()
	}
	return func(event deploy.Event) bool {
		return event.New != nil && selector.Matches(labels.Set(event.New.GetLabels()))
	}
}

// LabelsChanged is true when a label was added, changed or removed.
func LabelsChanged() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		return !maps.Equal(before.GetLabels(), after.GetLabels())
	})
}

// Finalizers is true when a finalizer was removed. Field("metadata", "finalizers") is also true when one was added,
// mostly by the operator itself.
func Finalizers() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool {
		kept := after.GetFinalizers()
		return slices.ContainsFunc(before.GetFinalizers(), func(name string) bool { return !slices.Contains(kept, name) })
	})
}
