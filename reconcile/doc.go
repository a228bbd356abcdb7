// Package reconcile turns one custom resource into applied objects, in the order of their dependencies, and reports the
// outcome in the resource's status.
//
// A [Controller] names its kind and, in its Setup, adds the components of a resource of that kind. A [Session] is one
// reconcile of one resource. A [Component] is a named set of objects; it may wait for other components. A [Reconciler]
// runs sessions: it deploys the components, verifies that they are ready, keeps the finalizer and writes the status, at
// most once and only when something changes. A resource whose objects are as they should be costs no API call.
//
// # Errors
//
// The conditions Ready and Updating of the resource report what went wrong, with the names of the component and the
// object. [request.Precondition] means not yet, and [request.Configuration] that the resource is wrong. Errors of
// package deploy are reported as errors of the cluster, all others, including panics of the controller, as errors of
// the operator. A component that fails blocks only the components that wait for it. Of several errors the most severe
// decides the conditions and comes first in the message, which has all of them. An outage of the cluster is reported
// once the cluster answers again.
//
// # Pauses
//
// A resource whose annotation <domain>/pause-execution is "true", or a future time (RFC 3339), isn't reconciled, and
// [ConditionPaused] reports that. It is still finalized when it is deleted, unless [PauseDeletions] is set.
//
// # Objects
//
// Objects that Setup adds are never changed, nor are objects that a View returns. Objects with another owner are
// neither taken over nor deleted. An object may be in one component only.
//
// # When to use it
//
// It knows nothing about events and queues: package reconcile/watch, or your own loop, calls Reconcile. Use package
// operator to get a whole operator. To apply a fixed set of objects use package deploy instead.
package reconcile
