// Package finalizer names the finalizers that operators of any style add to their resources.
//
// # When to use it
//
// Use it in a style of your own, so that the command release of an operator finds its finalizers: it removes those of
// [Names], and those of a watch.Controller that is a [Provider]. A *reconcile.Reconciler uses it by itself.
package finalizer
