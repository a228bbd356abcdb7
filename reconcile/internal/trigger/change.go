package trigger

import (
	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/filter"
	"github.com/operkit/operkit/reconcile/request"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// standard leaves out events that nobody made for us to act on, such as our own status writes (spec: watch 29, 31).
var standard = filter.Standard()

// ForcedBy ends the key of the annotation whose change forces a reconcile; what stands before it is a domain.
const ForcedBy = "/reconcile-at"

// isForced tells whether event sets the annotation key anew. That it is taken off is merely tidying up.
func isForced(event deploy.Event, key string) bool {
	if event.Type != deploy.Modified {
		return false
	}
	now := annotation(event.New, key)
	return now != "" && now != annotation(event.Old, key)
}

// annotation is a value as it stands there, without a copy of all.
func annotation(obj *unstructured.Unstructured, key string) string {
	annotations, _ := metadataOf(obj)["annotations"].(map[string]any)
	return text(annotations, key)
}

// metadataOf is the metadata of an object as it stands there, nil if it has none.
func metadataOf(obj *unstructured.Unstructured) map[string]any {
	metadata, _ := obj.Object["metadata"].(map[string]any)
	return metadata
}

func text(content map[string]any, key string) string {
	value, _ := content[key].(string)
	return value
}

// Why says what an event of a controlled object is; listing tells that the objects that exist are being listed.
func Why(event deploy.Event, listing, forced bool) (why request.Triggers) {
	if forced {
		why = request.Forced
	}
	switch {
	case event.Type == deploy.Deleted:
		return why | request.Deleted
	case isDeleting(event.New):
		return why | request.Deleting
	case event.Type == deploy.Added && listing && isOutdated(event.New):
		return why | request.Listed | request.Changed
	case event.Type == deploy.Added && listing:
		return why | request.Listed
	}
	return why | request.Changed
}

// isDeleting tells whether the deletion of an object has begun.
func isDeleting(obj *unstructured.Unstructured) bool {
	return metadataOf(obj)["deletionTimestamp"] != nil
}

// isRepetition tells of an update that it shows no change, such as a watch gives that begins again.
func isRepetition(event deploy.Event) bool {
	return event.Type == deploy.Modified &&
		text(metadataOf(event.Old), "resourceVersion") == text(metadataOf(event.New), "resourceVersion")
}

// leasing are updates that only take or release an object for a replica.
var leasing = filter.Leasing()

// concernsOthers tells whether an event of an object may bring others: what has left the view hasn't changed, nor has what
// a replica has merely taken or released (spec: watch 35).
func concernsOthers(event deploy.Event) bool {
	return event.Type != deploy.Left && !isRepetition(event) && !leasing(event)
}
