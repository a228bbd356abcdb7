package deploy

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// View reads from a cluster or from a cache of it. Its results are never older than a write that was made through the
// Port of the same Cluster. Implementations are safe for concurrent use. The objects that a View returns and passes to
// handlers are shared: don't change them. Their managedFields may be incomplete: entries of updates of the status
// subresource may be missing, and entries that own more than metadata may have no time.
type View interface {
	// Get returns the object. If it is absent, Get returns nil without an error, like Port.Get. If the cluster doesn't
	// serve the kind, the error is a *KindUnknownError. If the permission to read it is missing, the error is a
	// *ForbiddenError.
	Get(ctx context.Context, ref Ref) (*unstructured.Unstructured, error)
	// List returns the objects of kind that selector matches (nil: all), ascending by namespace and name. An empty
	// namespace means all namespaces.
	List(ctx context.Context, kind schema.GroupVersionKind, namespace string, selector labels.Selector) ([]*unstructured.Unstructured, error)
	// Subscribe calls handle for each existing object of kind (Added), and then for each event, until ctx ends. The
	// handler gets the events of one object one after the other. Subscribe returns without waiting for events, see
	// Subscription. handle must not block, and is called from other goroutines. If the cluster doesn't serve the kind,
	// Subscribe returns a *KindUnknownError. It returns another error only if it can't find out whether the cluster
	// serves the kind. After an error, call Subscribe again later.
	Subscribe(ctx context.Context, kind schema.GroupVersionKind, handle func(Event)) (Subscription, error)
}

// KindView is a View that also knows which kinds the cluster serves.
type KindView interface {
	View
	// Served waits until the cluster serves kind or ctx ends.
	Served(ctx context.Context, kind schema.GroupVersionKind) error
	// Kinds returns the kinds that the cluster serves, by group and kind, the versions of a kind in the order of
	// preference. After an error some may be missing.
	Kinds(ctx context.Context) ([]ServedKind, error)
	// WatchKinds calls handle with the kinds that the cluster serves, and again each time they have changed, until ctx
	// ends. If the cluster doesn't answer for a version of a group, its kinds of the last call stay. The slice is
	// shared: don't change it.
	WatchKinds(ctx context.Context, handle func(kinds []ServedKind))
}

// ServedKind is one version of a kind that a cluster serves.
type ServedKind struct {
	// Kind is the group, the version and the kind.
	Kind schema.GroupVersionKind
	// Preferred means that the cluster prefers this version of the kind to the others.
	Preferred bool
	// Resource is the plural name of the kind. Names are its singular name and its short names.
	Resource string
	Names    []string
	// Categories are the names of groups of kinds, such as "all". Verbs are what can be done with the objects, such as
	// "list" and "watch".
	Categories, Verbs []string
	// Scope says whether the objects are in namespaces.
	Scope Scope
}

// Subscription is a subscription to the events of a kind. It lasts until the context of Subscribe ends.
type Subscription interface {
	// Synced waits until every object that existed at the beginning has been passed to the handler. If the kind can't
	// be read, Synced returns the reason, such as a *ForbiddenError. The subscription keeps trying, so Synced may be
	// called again.
	Synced(ctx context.Context) error
}

// EventType is the type of an event.
type EventType string

// The types of an event.
const (
	Added    EventType = "ADDED"
	Modified EventType = "MODIFIED"
	Deleted  EventType = "DELETED"
	// Left means that the View doesn't watch the object any more, because its namespace left the scope, or because the
	// selectors of its kind don't match it any more. The object may still exist. If the View watches it again, the
	// event is Added.
	Left EventType = "LEFT"
)

// Event is one change of an object. For Added, Old is nil. For Deleted and Left, Old and New are the last known state.
type Event struct {
	// Type is what happened to the object. Old is its state before, and New is its state after.
	Type EventType
	Old  *unstructured.Unstructured
	New  *unstructured.Unstructured
}
