// Package watch is the engine of an operator: it turns the events of a deploy.View into
// requests and hands them to the reconciler of the kind, at most one at a time for each
// object, several objects at once.
//
// It knows keys, queues and time; it knows nothing of components or status. What it drives
// is an interface of one method, so that other styles of operator run on it unchanged.
//
// # What brings an object to reconcile
//
// It is there at the start, or created, or deleted; its spec, a label or an annotation
// changed; its deletion has begun; something that it owns (see [Engine.Own]) or follows (see
// [Engine.Follow]) changed in any way; it failed and its backoff is over; or a result asked for
// another time. A change of its status alone is none. However much happens while an object is reconciled, it makes one
// more reconcile. Request.Triggers says what it was. [When] and [WhenOwned] change which events count, by the predicates
// of package filter.
//
// # Order
//
// What is being deleted comes first, then what changed or of which something changed, then what failed or whose time
// has come, then what was there when the engine started. But each of these is a head start of seconds, up to a minute,
// so that nothing waits for ever. A result's time replaces an earlier one's.
//
// # When to use it
//
// Use it through package operator, or alone to run your own Reconciler over a View. Don't
// use it for one-off work: call the reconciler itself.
package watch
