package filter

import (
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/pause"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Created is true for an object that was created, or existed at the start.
func Created() Predicate {
	return func(event deploy.Event) bool {
		return event.Type == deploy.Added || event.Type == deploy.Modified && !isUpdate(event)
	}
}

// Replaced is true when an update shows another object of the same name: a watch that began again missed the deletion
// of the first one and the creation of the second one.
func Replaced() Predicate {
	return changed(func(before, after *unstructured.Unstructured) bool { return before.GetUID() != after.GetUID() })
}

// Deletion is true when an object is gone, when its deletion begins, and when it is first seen while it is being
// deleted. An object that left the view (deploy.Left) isn't gone.
func Deletion() Predicate {
	began := changed(func(before, after *unstructured.Unstructured) bool { return isDeleting(before) != isDeleting(after) })
	return func(event deploy.Event) bool {
		return event.Type == deploy.Deleted || began(event) ||
			!isUpdate(event) && event.Type != deploy.Left && isDeleting(event.New)
	}
}

// Lifecycle is Created, Replaced or Deletion.
func Lifecycle() Predicate { return Or(Created(), Replaced(), Deletion()) }

// isUpdate reports whether event shows an object before and after a change.
func isUpdate(event deploy.Event) bool {
	return event.Type == deploy.Modified && event.Old != nil && event.New != nil
}

func isDeleting(obj *unstructured.Unstructured) bool {
	return obj != nil && obj.GetDeletionTimestamp() != nil
}

// changed returns the predicate that is true for updates for which differ returns true.
func changed(differ func(before, after *unstructured.Unstructured) bool) Predicate {
	return func(event deploy.Event) bool { return isUpdate(event) && differ(event.Old, event.New) }
}

// Paused is true for objects whose annotation <domain>/pause-execution is "true"; an empty domain is deploy.Domain. It
// is false for an object that is paused until a time: no event occurs at that time, so the reconcile has to check the
// pause.
func Paused(domain string) Predicate {
	key := pause.Annotation(domain)
	return func(event deploy.Event) bool {
		return event.New != nil && pause.WithoutEnd(event.New.GetAnnotations()[key])
	}
}

// Unpaused is true when the annotation <domain>/pause-execution was "true" or a time, and now has another value that
// isn't "true", or is gone.
func Unpaused(domain string) Predicate {
	key := pause.Annotation(domain)
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, is := before.GetAnnotations()[key], after.GetAnnotations()[key]
		_, err := time.Parse(time.RFC3339, was)
		return (pause.WithoutEnd(was) || err == nil) && was != is && !pause.WithoutEnd(is)
	})
}

// UnlessPaused passes an event if changes, the given predicate, passes it and the object isn't paused without an end
// (see Paused). Deletions of paused objects pass, and so does the end of a pause, so that changes during the pause are
// reconciled then.
func UnlessPaused(domain string, changes Predicate) Predicate {
	deleting := func(event deploy.Event) bool { return isDeleting(event.New) }
	return Or(
		Deletion(),
		And(Or(Not(Paused(domain)), deleting), Or(changes, Unpaused(domain))),
	)
}
