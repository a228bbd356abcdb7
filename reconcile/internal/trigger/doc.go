// Package trigger decides what brings a controlled object to reconcile: its own events, events of objects that it owns
// or follows, and the time of a retry. It is for packages that run reconcilers: package watch runs them by a queue and
// workers, package reconciletest runs them one after the other. It starts no goroutines. The only state that it keeps
// is which objects concern which other objects, and which events are to come from a reconcile's own writes.
package trigger
