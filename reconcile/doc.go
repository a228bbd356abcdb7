// Package reconcile turns one custom resource into applied objects, in the order of their dependencies, and reports the
// outcome in the resource's status.
//
// A [Controller] names its kind and, in its Setup, adds the components of a resource of that kind. A [Session] is one
// reconcile of one resource. A [Component] is a named set of objects; it may wait for other components. A [Reconciler]
// runs sessions: it deploys the components, verifies that they are ready, keeps the finalizer and writes the status,
// once at most and only when something changes. A resource that is as it should be costs no call.
//
// # Errors
//
// The conditions Ready and Updating of the resource report what went wrong, with the names of the component and the
// object. [request.Precondition] means not yet, [request.Configuration] that the resource is wrong; errors of package
// deploy are the cluster's; everything else, a panic of the controller included, is the operator's. A component that
// fails holds back only those that wait for it. Of several errors the most severe decides the conditions and comes
// first, and all are in the message. An outage of the cluster is reported once the cluster answers again.
//
// # Pauses
//
// A resource whose annotation <domain>/pause-execution is "true", or a time (RFC 3339) to come, is left alone, and
// [ConditionPaused] reports that. Its deletion goes on, unless [PauseDeletions] is set.
//
// # Objects
//
// What Setup adds is never changed, nor is what a View returns. Objects of somebody else are neither taken over nor
// deleted. An object may be in one component only.
//
// # When to use it
//
// It knows nothing about events and queues: package reconcile/watch, or your own loop, calls Reconcile. Use package
// operator to get a whole operator. To apply a fixed set of objects use package deploy instead.
package reconcile
