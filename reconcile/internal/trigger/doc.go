// Package trigger decides what brings a controlled object to reconcile: events of its own, of what it owns and of what
// it follows, and time, after a failure. It is for those that run reconcilers: package watch by a queue and workers,
// package reconciletest one after the other. It starts nothing, and keeps nothing but who concerns whom.
package trigger
