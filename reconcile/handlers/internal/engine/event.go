package engine

import (
	"fmt"

	"github.com/operkit/operkit/reconcile/event"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The reasons of events about handlers, see package handlers.
const (
	EventFailed     = "HandlerFailed"
	EventGivenUp    = "HandlerGivenUp"
	EventAbandoned  = "DaemonAbandoned"
	EventUnreadable = "ObjectUnreadable"
)

// warn records a warning about the object.
func (w *work) warn(reason, format string, args ...any) {
	w.recordEvent(w.object, event.Warning, reason, format, args...)
}

// recordEvent records an event about an object, unless events are off.
func (r *Reconciler) recordEvent(object *unstructured.Unstructured, eventType event.Type, reason, format string, args ...any) {
	if r.env.Events != nil {
		r.env.Events.Record(event.Event{
			Regarding: event.Of(object), Type: eventType, Reason: reason, Note: fmt.Sprintf(format, args...),
		})
	}
}
