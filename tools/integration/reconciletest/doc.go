// Package reconciletest tests that reconcile/reconciletest behaves in memory as on a control plane. The same test runs
// on both, by one switch: it creates the same objects, fails in the same places, and ends without further writes.
// Objects that the simulator makes ready in memory also become ready on the control plane. A reconciler of another
// style is called for the same reasons on both, and conditions of a controller's own are written at the same moments.
//
// It has only tests, and is an example of how users switch. Other tests of the harness are next to its code.
package reconciletest
