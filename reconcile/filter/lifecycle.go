package filter

import (
	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Created is true for an object that is new to whoever watches: it was created, or was there at the start.
func Created() Predicate {
	return func(event deploy.Event) bool {
		return event.Type == deploy.Added || event.Type == deploy.Modified && !isUpdate(event)
	}
}

// Replaced is true when another object has the name of the one that was seen before, whose end and whose own beginning
// were missed: a watch that begins again shows both as one update.
func Replaced() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool { return before.GetUID() != after.GetUID() })
}

// Deletion is true when an object is gone, and when its deletion begins, or had begun before it was first seen. One that
// left the view (deploy.Left) isn't gone.
func Deletion() Predicate {
	began := changed(func(before, after *unstructured.Unstructured) bool { return isDeleting(before) != isDeleting(after) })
	return func(event deploy.Event) bool {
		return event.Type == deploy.Deleted || began(event) ||
			!isUpdate(event) && event.Type != deploy.Left && isDeleting(event.New)
	}
}

// Lifecycle is Created, Replaced or Deletion (spec: watch 29, CreationDeletion).
func Lifecycle() Predicate { return Or(Created(), Replaced(), Deletion()) }

// isUpdate tells whether event shows an object before and after a change.
func isUpdate(event deploy.Event) bool {
	return event.Type == deploy.Modified && event.Old != nil && event.New != nil
}

func isDeleting(obj *unstructured.Unstructured) bool {
	return obj != nil && obj.GetDeletionTimestamp() != nil
}

// changed is true for updates that differ tells of.
func changed(differ func(before, after *unstructured.Unstructured) bool) Predicate {
	return func(event deploy.Event) bool { return isUpdate(event) && differ(event.Old, event.New) }
}
