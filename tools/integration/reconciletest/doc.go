// Package reconciletest holds the promise of reconcile/reconciletest on one control plane: the same test runs in memory
// and there, by one switch, creates the same objects, fails in the same places and settles to no writes; and what the
// simulator makes ready in memory gets ready there.
//
// It holds tests only, and is an example of how users switch. What the harness does by itself is tested beside it.
package reconciletest
