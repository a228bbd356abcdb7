package engine

import (
	"context"
	"time"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
	"github.com/operkit/operkit/reconcile/internal/typed"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// ClusterEvent is an Event that was reported about an object.
type ClusterEvent struct {
	// Type is Normal or Warning. Reason is one word, Note is text for people, and By is the name of the controller.
	Type, Reason, Note, By string
	// Count is how often it was reported, and At is when that happened last.
	Count int
	At    time.Time
}

// storedEvent is an Event as it is stored, as far as it matters.
type storedEvent struct {
	metav1.ObjectMeta   `json:"metadata"`
	EventTime           metav1.MicroTime `json:"eventTime"`
	ReportingController string           `json:"reportingController"`
	Type                string           `json:"type"`
	Reason              string           `json:"reason"`
	Note                string           `json:"note"`
	Regarding           struct {
		APIVersion string    `json:"apiVersion"`
		Kind       string    `json:"kind"`
		Namespace  string    `json:"namespace"`
		Name       string    `json:"name"`
		UID        types.UID `json:"uid"`
	} `json:"regarding"`
	Series *struct {
		Count            int              `json:"count"`
		LastObservedTime metav1.MicroTime `json:"lastObservedTime"`
	} `json:"series"`
	DeprecatedSource struct {
		Component string `json:"component"`
	} `json:"deprecatedSource"`
	DeprecatedCount         int         `json:"deprecatedCount"`
	DeprecatedLastTimestamp metav1.Time `json:"deprecatedLastTimestamp"`
}

// clusterEvents is the kind of the Events.
var clusterEvents = schema.GroupVersionKind{Group: "events.k8s.io", Version: "v1", Kind: "Event"}

// mostReports is the number of Events about an object that wait for its next pass, the newest ones.
const mostReports = 100

// reports are the Events that handlers weren't called for yet.
type reports struct {
	// wanted: there are such handlers. since is the start of the process, and own the name of the operator.
	wanted bool
	since  time.Time
	own    string
	queue[report]
}

// report is an Event, with the uid of the object that it is about, empty if it isn't known.
type report struct {
	ClusterEvent
	uid types.UID
}

// isAbout reports whether the Event is about an object, and not about an earlier one of the same name.
func (e report) isAbout(object *unstructured.Unstructured) bool {
	if e.uid != "" && e.uid != types.UID(object.GetName()) { // the kubelet reports the name of a Node as its uid
		return e.uid == object.GetUID()
	}
	created := object.GetCreationTimestamp()
	return !e.At.Before(created.Time)
}

// queueReport queues an Event for the next pass over its object, which it brings to reconcile.
func (r *Reconciler) queueReport(event deploy.Event) []deploy.Ref {
	if event.Type != deploy.Added && event.Type != deploy.Modified {
		return nil
	}
	found, err := typed.Decode[storedEvent](event.New.Object)
	if err != nil {
		r.Logger.Warn("an Event can't be read", "event", deploy.RefOf(event.New), "error", err)
		return nil
	}
	reported, about := clusterEventOf(found), found.Regarding
	kind := schema.FromAPIVersionAndKind(about.APIVersion, about.Kind)
	if kind.GroupKind() != r.Kind.GroupKind() || reported.By == r.reports.own || !reported.At.After(r.reports.since) {
		return nil
	}
	ref := deploy.Ref{Kind: r.Kind, Namespace: about.Namespace, Name: about.Name}
	r.reports.add(ref, report{reported, about.UID})
	return []deploy.Ref{ref}
}

// clusterEventOf reads an Event, in the form of events.k8s.io or of older programs.
func clusterEventOf(e *storedEvent) ClusterEvent {
	found := ClusterEvent{Type: e.Type, Reason: e.Reason, Note: e.Note, By: e.ReportingController, Count: 1, At: e.EventTime.Time}
	if found.By == "" {
		found.By = e.DeprecatedSource.Component
	}
	if found.At.IsZero() {
		found.At = e.CreationTimestamp.Time
	}
	if last := e.DeprecatedLastTimestamp.Time; last.After(found.At) {
		found.At = last
	}
	if e.DeprecatedCount > 1 {
		found.Count = e.DeprecatedCount
	}
	if e.Series != nil {
		found.Count, found.At = e.Series.Count, e.Series.LastObservedTime.Time
	}
	return found
}

// callReported calls the handlers of OnClusterEvent for the queued reports about an object. It reports whether none is
// left: when the time of ctx is over, they wait for the next pass.
func (r *Reconciler) callReported(ctx context.Context, object *unstructured.Unstructured, known *object) (done bool) {
	if !r.reports.wanted {
		return true
	}
	ref := deploy.RefOf(object)
	events := r.reports.drain(ref)
	for i, event := range events {
		if ctx.Err() != nil {
			r.reports.putBack(ref, events[i:])
			return false
		}
		if event.isAbout(object) {
			w := newWork(ctx, r, object, known)
			w.callForEvent(ctx, selection.Reported, event.Reason, func(a *Attempt) { a.Reported = event.ClusterEvent })
		}
	}
	return true
}
