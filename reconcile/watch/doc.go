// Package watch is the engine of an operator: it turns the events of a deploy.View into
// requests and hands them to the reconciler of the kind, at most one at a time for each
// object, several objects at once.
//
// It knows keys, queues and time; it knows nothing of components or status. What it drives
// is an interface of one method, so that other styles of operator run on it unchanged.
//
// Use it through package operator, or alone to run your own Reconciler over a View. Don't
// use it for one-off work: call the reconciler itself.
package watch
