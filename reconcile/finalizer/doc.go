// Package finalizer names the finalizers that operators of any style add to their resources.
//
// # When to use it
//
// Use it in a style of your own, so that the command release of an operator finds its finalizers: it removes those of
// [Names] unless the reconciler is a [Provider] of others. A *reconcile.Reconciler and handlers are providers.
package finalizer
