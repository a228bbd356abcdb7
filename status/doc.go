// Package status reads and writes status.conditions of Kubernetes objects, and computes the status of a custom resource
// from what a reconcile knows.
//
// [Conditions] works on single conditions of any object: unstructured, a plain map, a bare []metav1.Condition or a
// typed object. It keeps what others have written and moves a transition time only together with the status:
//
//	conditions := status.Conditions(obj)
//	changed := conditions.Set(now, metav1.Condition{Type: "Ready", Status: "True", Reason: "Up"})
//	err := conditions.Err()
//
// [Declare] is for the types of conditions that a controller owns: a visit reports on them, a table turns errors into
// reasons, and one type summarises the others. [Patch] makes the smallest patch that writes own conditions, and [Write]
// computes again when somebody else wrote in between.
//
// [Application] is the whole status of a custom resource whose components are rolled out by an operator: the conditions
// Ready and Updating with their closed sets of reasons, the conditions that kstatus, Argo CD and Flux read, the state
// of the components, versions and generations:
//
//	ready, updating := status.ForEnd(current, allVerified)
//	next, changed, err := status.Application{Ready: ready, Updating: updating, Generation: generation}.Update(now, current)
//
// Use it in any controller, whatever framework it is written with. It writes nothing to a cluster and has no clock:
// Write is given the caller's functions. Whether an object is ready is decided by the package readiness below this one.
//
// Set, Remove, Merge, Begin and End change the object that they are given; nothing else changes an argument. All
// functions may be called concurrently on different objects.
package status
