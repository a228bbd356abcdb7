// Package standing says in one word how a reconcile has left a resource, such as Settled or Failing, and counts the
// resources of a reconciler by that word, for metrics.
//
// Every style of reconciler uses it. A reconciler with a method Tally is a Provider, which package operator finds by
// that method.
//
// # When to use it
//
// Use it to read how the resources of a reconciler stand, and in a reconciler of your own that wants to be counted:
// embed a Book. A *reconcile.Reconciler counts its resources by itself. The conditions of a single resource are in
// package status.
package standing
