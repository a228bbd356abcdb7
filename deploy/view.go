package deploy

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// View reads a cluster, from a cache where there is one. Its results are never older than a write made through the Port
// of the same Cluster. Implementations are safe for concurrent use. The objects that it returns and passes to handlers
// are shared: don't change them. Their managedFields may lack the entries of the status, and the times of entries that
// own more than metadata.
type View interface {
	// Get returns the object; nil without an error if it is absent, as in a Port. A kind that the cluster doesn't serve
	// is a *KindUnknownError, a missing right to read it a *ForbiddenError.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List returns the objects of kind that selector matches (nil: all), ascending by
	// namespace and name. An empty namespace means all of them.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error)
	// Subscribe calls handle for each object of kind that exists (Added) and for each event from then on, until ctx
	// ends. The events of one object come one after the other. It doesn't wait for any of them: see Subscription.
	// handle must not block, and is called from other goroutines. Subscribe fails only with a *KindUnknownError, or if
	// it can't find out whether the cluster serves the kind; the caller then subscribes again later.
	Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(Event)) (Subscription, error)
}

// KindView is a View that can also wait until a kind is served.
type KindView interface {
	View
	// Served returns when the cluster serves kind, or when ctx ends.
	Served(ctx context.Context, kind schema.GroupVersionKind) error
}

// Subscription is a request for the events of a kind that stands until its context ends.
type Subscription interface {
	// Synced waits until every object that existed was passed to the handler. While the kind can't be read it returns
	// the reason, such as a *ForbiddenError; the subscription keeps trying, so Synced may be called again.
	Synced(ctx context.Context) error
}

// EventType is the type of an event.
type EventType string

// The types of an event.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	// Left: the View doesn't watch the object any more, for example because its namespace left the scope. It may still
	// exist; if the View watches it again it is Added.
	Left EventType = "LEFT"
)

// Event is one change of an object. Old is nil for Added; for Deleted and Left, Old and New are the last known state.
type Event struct {
	// Type is what happened to the object, Old its state before and New its state after.
	Type EventType
	Old  *unstructured.Unstructured
	New  *unstructured.Unstructured
}
