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
// A reconciler that is a source.Provider changes that: which events count, which kinds are owned, which other kinds
// concern its objects, what happens outside of the cluster. A new value of the annotation <domain>/reconcile-at (see
// [Domain]) brings the object whatever counts: it is reconciled at once and its backoff begins anew, also after a
// permanent error. A reconciler that is an [Observer] is called for every event of its objects.
//
// An object that leaves the view (deploy.Left) is forgotten: nothing brings it any more, a reconcile under way ends by
// itself and isn't scheduled again, and a [Forgetter] is called. [Period] reconciles each object again after a time.
//
// Events are queued at once and looked at in their turn. In a burst of updates of one object, the updates after the
// first one that counts are looked at as one, so that a burst costs little.
//
// # Order
//
// Objects that are being deleted come first, then objects that somebody forces, then objects that changed or of which
// something changed, then retries and timers, then objects that existed when the engine started. Each of these is a
// head start of seconds, up to a minute, so that nothing waits for ever. The time of a result replaces an earlier one.
//
// # Failures
//
// A kind that can't be watched yet is waited for. A panic is a failure of its object. A reconcile that ignores the end
// of its context is logged. While the cluster doesn't answer, that is logged once a minute, not for each object.
// [Engine.State] returns the state of all that, for health checks and metrics. When the leadership that the context of
// Run belongs to is lost (leader.TermOf), running reconciles are cancelled at once.
//
// # When to use it
//
// Use it through package operator, or alone to run your own Reconciler over a View. Don't
// use it for one-off work: call the reconciler itself.
package watch
