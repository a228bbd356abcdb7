// Package reconcile turns one custom resource into applied objects, in the order of their
// dependencies, and reports the outcome in the resource's status.
//
// A [Controller] says which kind it is for and, in its Setup, which components a resource
// of that kind consists of. A [Session] is one reconcile of one resource. A [Component] is
// a named set of objects; it may wait for other components. A [Reconciler] runs sessions:
// it deploys the components, verifies that they are ready, keeps the finalizer and writes
// the status, once at most and only when it says something new.
//
// It knows nothing about events and queues: package reconcile/watch, or your own loop,
// calls Reconcile. Use package operator to get a whole operator. Don't use this package to
// apply a fixed set of objects: package deploy alone does that.
package reconcile
