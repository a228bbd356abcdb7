// Package status reads and writes status.conditions of Kubernetes objects, and computes the status of a custom resource
// from what a reconcile knows.
//
// [Conditions] works on single conditions of any object: unstructured, a plain map, a bare []metav1.Condition or a
// typed object. It keeps the conditions of other writers, and moves a transition time only when the status changes:
//
//	conditions := status.Conditions(obj)
//	changed := conditions.Set(now, metav1.Condition{Type: "Ready", Status: "True", Reason: "Up"})
//	err := conditions.Err()
//
// [Declare] declares the types of conditions that a controller owns. In each reconcile a [Visit] reports them, a table
// turns errors into reasons, and one type can summarise the others. [Patch] returns the smallest patch that writes the
// owned conditions. [Write] computes the object again if somebody else has written the object in between.
//
// [Application] is the whole status of a custom resource whose components are rolled out by an operator. It has the
// conditions Ready and Updating with their closed sets of reasons, the conditions that kstatus, Argo CD and Flux read,
// the state of the components, and the versions and generations:
//
//	ready, updating := status.ForEnd(current, allVerified)
//	application := status.Application{Ready: ready, Updating: updating, Generation: generation}
//	next, changed, err := application.Update(now, current)
//
// The package works in any controller, with any framework. It has no client and no clock: the caller passes the time,
// and passes Write the functions that read and write. The package status/readiness decides whether an object is ready.
//
// Only Set, Remove, Merge, Begin and End change the object that they are given. All functions may be called
// concurrently on different objects.
package status
