package trigger

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// standard leaves out events that nobody made for us to act on, such as our own status writes (spec: watch 29, 31).
var standard = filter.Standard()

// IsDeleting tells whether the deletion of an object has begun.
func IsDeleting(obj *unstructured.Unstructured) bool {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	return metadata["deletionTimestamp"] != nil
}

// isAnother tells whether after has another spec than before, or is another object of that name.
func isAnother(before, after *unstructured.Unstructured) bool {
	return before.GetGeneration() != after.GetGeneration() || before.GetUID() != after.GetUID()
}

// isRepetition tells of an update that it shows no change, such as a watch gives that begins again.
func isRepetition(event deploy.Event) bool {
	return event.Type == deploy.Modified && event.Old.GetResourceVersion() == event.New.GetResourceVersion()
}
