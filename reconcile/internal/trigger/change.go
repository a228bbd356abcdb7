package trigger

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wantsReconcile, of an object with the spec that it had before, leaves out updates that nobody made for us to act on, such as our own
// status writes (spec: watch 29, 31).
func wantsReconcile(before, after *unstructured.Unstructured) bool {
	return after.GetGeneration() == 0 || IsDeleting(before) != IsDeleting(after) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		lostFinalizer(before, after)
}

// IsDeleting tells whether the deletion of an object has begun.
func IsDeleting(obj *unstructured.Unstructured) bool {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	return metadata["deletionTimestamp"] != nil
}

// lostFinalizer tells whether a finalizer was taken off, which may have been ours.
func lostFinalizer(before, after *unstructured.Unstructured) bool {
	kept := after.GetFinalizers()
	return slices.ContainsFunc(before.GetFinalizers(), func(name string) bool { return !slices.Contains(kept, name) })
}

// isAnother tells whether after has another spec than before, or is another object of that name.
func isAnother(before, after *unstructured.Unstructured) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
}
