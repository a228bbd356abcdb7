// Package reconcile turns one custom resource into applied objects, in the order of their
// dependencies, and reports the outcome in the resource's status.
//
// A [Controller] says which kind it is for and, in its Setup, which components a resource
// of that kind consists of. A [Session] is one reconcile of one resource. A [Component] is
// a named set of objects; it may wait for other components. A [Reconciler] runs sessions:
// it deploys the components, verifies that they are ready, keeps the finalizer and writes
// the status, once at most and only when it says something new. A resource that is as it
// should be costs no call.
//
// # Errors
//
// What went wrong stands in the conditions Ready and Updating of the resource, with the name
// of the component and of the object. [request.Precondition] means not yet, [request.Configuration] that the
// resource is wrong; errors of package deploy are the cluster's; everything else, a panic of
// the controller included, is the operator's. A component that fails holds back only those
// that wait for it. When several errors meet, the most severe decides the conditions and
// stands first, and all are in the message. A cluster that doesn't answer is told as soon as it does.
//
// # Pauses
//
// A resource whose annotation <domain>/pause-execution is "true", or a time (RFC 3339) to come, is left alone, and says so by
// [ConditionPaused]; its deletion goes on, save with [PauseDeletions].
//
// # Objects
//
// What a Setup adds is never changed, nor is what a View returns. Objects that belong to
// somebody else are neither taken over nor deleted. Between components an object may be
// in one only.
//
// # When to use it
//
// It knows nothing about events and queues: package reconcile/watch, or your own loop,
// calls Reconcile. Use package operator to get a whole operator. Don't use this package to
// apply a fixed set of objects: package deploy alone does that.
package reconcile
