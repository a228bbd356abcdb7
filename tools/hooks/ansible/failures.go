package ansible

import (
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// EventRunFailed is the reason of the event about a run that has failed, unless the one before it has failed in the same
// way.
const EventRunFailed = "RunFailed"

// failures remembers how the latest run of each resource has failed. The zero value is empty. It is safe for concurrent
// use.
type failures struct {
	mu    sync.Mutex
	known map[deploy.Ref]string
}

// isNew remembers a failure, and reports whether it is another one than before.
func (f *failures) isNew(key deploy.Ref, message string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = map[deploy.Ref]string{}
	}
	before := f.known[key]
	f.known[key] = message
	return before != message
}

func (f *failures) forget(key deploy.Ref) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.known, key)
}

// recordFailure records an event about a run that has failed.
func (r *reconciler) recordFailure(key deploy.Ref, resource *unstructured.Unstructured, err error) {
	if r.failures.isNew(key, err.Error()) && r.env.Events != nil {
		r.env.Events.Record(event.Event{Regarding: event.Of(resource), Type: event.Warning, Reason: EventRunFailed, Note: err.Error()})
	}
}
