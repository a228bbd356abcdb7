package trigger

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// wantsReconcile leaves out updates that nobody made for us to act on, such as our own
// status writes (spec: watch 29, 31).
func wantsReconcile(before, after *unstructured.Unstructured) bool {
	return after.GetGeneration() == 0 || isAnother(before, after) ||
		(before.GetDeletionTimestamp() == nil) != (after.GetDeletionTimestamp() == nil) ||
		!maps.Equal(before.GetAnnotations(), after.GetAnnotations()) ||
		!maps.Equal(before.GetLabels(), after.GetLabels()) ||
		lostFinalizer(before, after)
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
