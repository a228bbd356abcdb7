package deploy

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// View answers reads of a cluster, from a cache where there is one. What it shows is
// never older than a write made through the Port beside it. Implementations are safe for
// concurrent use. The objects it returns and hands to handlers are shared: don't change
// them. Their managedFields may be without the entries of the status, and without the
// times of entries that own more than metadata.
type View interface {
	// Get returns the object; an absent one is nil without an error, as in a Port. A kind that the
	// cluster doesn't serve is a *KindUnknownError; a kind that may not be read a
	// *ForbiddenError.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List returns the objects of kind that selector matches (nil: all), ascending by
	// namespace and name. An empty namespace means all of them.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error)
	// Subscribe calls handle for each object of kind that exists (Added) and for what
	// happens from then on, one event of an object after the other, until ctx ends. It
	// doesn't wait: see Subscription. handle must not block, and is called from other
	// goroutines. Only a *KindUnknownError, or a cluster that can't be asked about the kind,
	// makes it fail; the caller then asks again later.
	Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(Event)) (Subscription, error)
}

// KindView is what a View may offer beside: to wait for a kind without asking again and again.
type KindView interface {
	View
	// Served returns when the cluster serves kind, or with the end of ctx.
	Served(ctx context.Context, kind schema.GroupVersionKind) error
}

// Subscription is one standing request for the events of a kind.
type Subscription interface {
	// Synced waits until every object that existed has been handed over. While the kind
	// can't be read it returns the reason, such as a *ForbiddenError; the subscription stands
	// all the same and goes on trying, so that Synced may be asked again.
	Synced(ctx context.Context) error
}

// EventType says what happened to an object.
type EventType string

// The types of an event.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	// Left: the View doesn't watch the object any more, such as one of a namespace that has left its
	// scope. It may exist still; should it come back into view it is Added.
	Left EventType = "LEFT"
)

// Event is one change of an object. Old is nil for Added; for Deleted and Left both are the last
// known state.
type Event struct {
	// Type is what happened to the object, which was Old and is New.
	Type EventType
	Old  *unstructured.Unstructured
	New  *unstructured.Unstructured
}
