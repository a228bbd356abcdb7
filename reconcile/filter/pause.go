package filter

import (
	"strings"
	"time"

	"github.com/operkit/operkit/deploy"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// pauseKey is the key of the annotation that pauses, under domain.
func pauseKey(domain string) string {
	if domain == "" {
		domain = deploy.Domain
	}
	return domain + "/pause-execution"
}

// pausesForGood tells whether a value of the annotation pauses until it is taken back.
func pausesForGood(value string) bool { return strings.EqualFold(value, "true") }

// Paused is true for objects whose annotation pause-execution under domain is "true"; an empty domain is deploy.Domain
// (spec: watch 29). An object that is paused until a time isn't meant: no event tells when that has come, so its
// reconcile has to see to it.
func Paused(domain string) Predicate {
	key := pauseKey(domain)
	return func(event deploy.Event) bool {
		return event.New != nil && pausesForGood(event.New.GetAnnotations()[key])
	}
}

// Unpaused is true when the annotation pause-execution under domain stops pausing, or pauses until a time from now on,
// or until another one (spec: watch mistake 10).
func Unpaused(domain string) Predicate {
	key := pauseKey(domain)
	return changed(func(before, after *unstructured.Unstructured) bool {
		was, is := before.GetAnnotations()[key], after.GetAnnotations()[key]
		_, err := time.Parse(time.RFC3339, was)
		return (pausesForGood(was) || err == nil) && was != is && !pausesForGood(is)
	})
}

// UnlessPaused lets pass what changes does, unless the object is paused; then its deletion goes on all the same. The end
// of the pause passes, so that what changed meanwhile is looked at (spec: watch 29, mistake 10).
func UnlessPaused(domain string, changes Predicate) Predicate {
	deleting := func(event deploy.Event) bool { return isDeleting(event.New) }
	return Or(
		Deletion(),
		And(Or(Not(Paused(domain)), deleting), Or(changes, Unpaused(domain))),
	)
}
