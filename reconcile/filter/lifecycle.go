package filter

import (
	"strings"
	"time"

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

// Lifecycle is Created, Replaced or Deletion.
func Lifecycle() Predicate { return Or(Created(), Replaced(), Deletion()) }

// isUpdate reports whether event shows an object before and after a change.
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

// pauseKey is the key of the annotation that pauses, under domain.
func pauseKey(domain string) string {
	if domain == "" {
		domain = deploy.Domain
	}
	return domain + "/pause-execution"
}

// pausesForGood reports whether a value of the annotation pauses until it is taken back.
func pausesForGood(value string) bool { return strings.EqualFold(value, "true") }

// Paused is true for objects whose annotation pause-execution under domain is "true"; an empty domain is deploy.Domain. An object that is paused until a time isn't meant: no event tells when that has come, so its
// reconcile has to see to it.
func Paused(domain string) Predicate {
	key := pauseKey(domain)
	return func(event deploy.Event) bool {
		return event.New != nil && pausesForGood(event.New.GetAnnotations()[key])
	}
}

// Unpaused is true when the annotation pause-execution under domain stops pausing, or pauses until a time from now on,
// or until another one.
func Unpaused(domain string) Predicate {
	key := pauseKey(domain)
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, is := before.GetAnnotations()[key], after.GetAnnotations()[key]
		_, err := time.Parse(time.RFC3339, was)
		return (pausesForGood(was) || err == nil) && was != is && !pausesForGood(is)
	})
}

// UnlessPaused lets pass what changes does, unless the object is paused; then its deletion goes on all the same. The end
// of the pause passes, so that what changed meanwhile is looked at.
func UnlessPaused(domain string, changes Predicate) Predicate {
	deleting := func(event deploy.Event) bool { return isDeleting(event.New) }
	return Or(
		Deletion(),
		And(Or(Not(Paused(domain)), deleting), Or(changes, Unpaused(domain))),
	)
}
