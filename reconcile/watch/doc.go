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
// more reconcile. Request.Triggers says what it was.
//
// A reconciler that is a source.Provider changes that: which events count, which kinds are owned, which others concern
// its objects, what happens outside of the cluster. A new value of the annotation <domain>/reconcile-at (see [Domain])
// brings the object whatever counts: it is reconciled at once and its backoff begins anew, also when a permanent error
// had it wait for a change. A reconciler that is an [Observer] is told of every event of its objects.
//
// An object that leaves the view (deploy.Left) is forgotten: nothing brings it any more, and a reconcile that runs ends by
// itself, without being scheduled again; a [Forgetter] is told. [Period] has each object come again after a time.
//
// Events are taken in at once and looked at in their turn. Of a burst of updates of one object those that follow on one
// that counts are looked at as a whole, so that as many events as there may be cost little.
//
// # Order
//
// What is being deleted comes first, then what changed or of which something changed, then what failed or whose time
// has come, then what was there when the engine started. But each of these is a head start of seconds, up to a minute,
// so that nothing waits for ever. What somebody forces comes before what changed. A result's time replaces an earlier one's.
//
// # How it does
//
// A kind that can't be watched yet is waited for, a panic is that object's failure, and a reconcile that doesn't heed its
// context is told of once it is late. What all objects have in common, a cluster that doesn't answer, is said once a
// minute. [Engine.State] says all that at a glance, for health checks and metrics.
//
// # When to use it
//
// Use it through package operator, or alone to run your own Reconciler over a View. Don't
// use it for one-off work: call the reconciler itself.
package watch
