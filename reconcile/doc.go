// Package reconcile turns one custom resource into applied objects, in the order of their dependencies, and reports the
// outcome in the resource's status.
//
// A [Controller] names its kind and, in its Setup, adds the components of a resource of that kind. A [Session] is one
// reconcile of one resource. A [Component] is a named set of objects; it may wait for other components. A [Reconciler]
// runs sessions: it deploys the components, verifies that they are ready, keeps the finalizer and writes the status. A
// resource whose objects are as they should be costs no API call.
//
// # Status
//
// The status is written when something in it changes: at the end of a reconcile, and before that if the rollout changes
// the version or takes longer than [StartAfter] (statuswrite.go). A pause is written too (pause.go), and with
// [OwnAnywhere] the kinds of objects before they are applied (prune.go). Nothing else in this package writes a status.
// Package temporarypatch also reports in the status of the patches themselves.
//
// # What ends a reconcile early
//
// The method reconcile of [Reconciler] makes these decisions, from top to bottom. A resource that is gone, or whose
// kind isn't served, is forgotten. A paused one is left alone. A resource that is being deleted is finalized instead. A
// resource that can't be read, a finalizer that can't be added, a version that [StrictVersions] refuses, an error of
// the assets, the configuration, the patches, Upgrade or Setup, and a mistake in how components are described (a cycle,
// an object in two components) end the reconcile before anything is applied. After that, a failed component doesn't end
// the reconcile (see Errors), but the end of the context does. The engine ends the context after its timeout, after its
// grace time at shutdown, and when the leadership is lost (package watch, worker.go and engine.go).
//
// # Errors
//
// The conditions Ready and Updating of the resource report what went wrong, with the names of the component and the
// object. [request.Precondition] means not yet, and [request.Configuration] that the resource is wrong. Errors of
// package deploy are reported as errors of the cluster, all others, including panics of the controller, as errors of
// the operator. A component that fails blocks only the components that wait for it. Of several errors the most severe
// decides the conditions. The message has all errors, the most severe first. An outage of the cluster is reported as
// soon as the cluster answers again.
//
// # Pauses
//
// A resource whose annotation <domain>/pause-execution is "true", or a future time (RFC 3339), isn't reconciled, and
// [ConditionPaused] reports that. If the resource is deleted, it is still finalized, unless [PauseDeletions] is set.
//
// # Objects
//
// Objects that Setup adds are never changed, nor are objects that a View returns. Objects with another owner are
// neither taken over nor deleted. An object may be in one component only.
//
// # When to use it
//
// Use this package for the controllers of an operator. It knows nothing about events and queues: package
// reconcile/watch, or your own loop, calls Reconcile. Use package operator to get a whole operator. To apply a fixed
// set of objects use package deploy instead.
package reconcile
