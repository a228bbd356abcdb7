package desired

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is what the functions of a Syncer get: all that they may depend on.
type Request[T any] struct {
	// Parent is the parent. It is a copy.
	Parent *T
	// Children are the observed children of the declared kinds, also those that are being deleted: the objects that
	// this operator has applied for the parent, and the adopted ones.
	Children Objects
	// Related are the objects that Related has selected.
	Related Objects

	ctx context.Context
}

// Context returns the context of the reconcile. A function that only computes doesn't need it; one that asks another
// process ends its request when the context ends. In a Request that a test has made it is context.Background.
func (r Request[T]) Context() context.Context {
	if r.ctx == nil {
		return context.Background() //nolint:forbidigo // a test has made the Request
	}
	return r.ctx
}

// Response is what a Sync wants.
type Response struct {
	// Children are all children that are wanted. Each is an API struct with its TypeMeta, an apply configuration, an
	// *unstructured.Unstructured, or a map. A child without a namespace gets that of the parent. Its status, and what
	// only the cluster sets in its metadata, such as uid and resourceVersion, is left out. An object of
	// Request.Children that is returned without a change stays as it is. Observed children that aren't returned are
	// deleted; nil wants no children.
	//
	// The order is the one in which children are rolled. It doesn't matter otherwise.
	Children []any
	// Status is the status of the parent, a struct or a map; nil leaves the status as it is. It is about the generation
	// of the parent: observedGeneration is set. Fields that it doesn't have are removed, except that conditions of
	// other types stay, also those of an earlier Response. Leave out the times of conditions: a time moves when the
	// status of the condition changes.
	Status any
	// Labels and Annotations are set on the parent; a nil value removes a key. Other keys stay, also those of an earlier
	// Response. A new value is a change of the parent, so that Sync is called again.
	Labels, Annotations map[string]*string
	// ResyncAfter is the time after which Sync is called again without an event; zero means never, and
	// a negative time is an error.
	ResyncAfter time.Duration
	// Finalized, in the Response of a Finalize, removes the finalizer of the parent once the children are as wanted.
	// The parent is gone then, and with it all children that it still has.
	Finalized bool
}

// Selection selects related objects of one kind.
type Selection struct {
	// Kind is the kind of the objects.
	Kind schema.GroupVersionKind
	// Namespace is where they are. Empty means the namespace of the parent. For a cluster-scoped parent, or with
	// Everywhere, it means all namespaces; it is ignored for objects without a namespace.
	Namespace  string
	Everywhere bool
	// Namespaces selects the namespaces by their labels, in place of Namespace and Everywhere, for any parent.
	Namespaces labels.Selector
	// Names selects objects by name. Without Names, Labels selects them, and labels.Everything all of them. Without both
	// nothing is selected. Names in more than one namespace have the operator hold all objects of the kind there.
	Names  []string
	Labels labels.Selector
}
