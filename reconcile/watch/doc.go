// Package watch is the engine of an operator: it turns the events of a deploy.View into requests, and hands them to the
// reconciler of the kind. Each object has at most one reconcile at a time; different objects are reconciled
// concurrently.
//
// Events come from a deploy.View. Package deploy/cluster implements one by watches of the API server, and restarts
// broken watches. This package handles keys, queues and time, not components or status. A reconciler is an interface of
// one method, so that other styles of operator run on it too.
//
// # What brings an object to reconcile
//
// An object is reconciled
//
//   - when it exists at the start, is created or deleted, or when its deletion has begun;
//   - when its spec, a label or an annotation changed;
//   - when an object that it owns (see [Engine.Own]) or follows (see [Engine.Follow] and [Engine.FollowAll]) changed in
//     any way;
//   - when its backoff after a failure is over, and at the time that a result asked for.
//
// A change of the object's status alone doesn't count. Any number of events during a reconcile lead to one more
// reconcile. Request.Triggers has the reasons.
//
// A reconciler that is a source.Provider changes this: it declares which events count, which kinds are owned, which
// other kinds concern its objects, which kinds it keeps tables of, and sources outside the cluster. A new value of the
// annotation <domain>/reconcile-at (see [Domain]) always causes an immediate reconcile of the object, even after a
// permanent error, and the object's backoff starts again. A reconciler that is an [Observer] is called for every event
// of its objects.
//
// An object that leaves the view (deploy.Left) is forgotten: it isn't reconciled any more, a running reconcile of it
// isn't repeated, and a [Forgetter] is called. [Period] reconciles each object again after a time.
//
// Events are queued and processed in order. In a burst of updates of one object, the updates after the first one that
// counts are processed as one, so that a burst costs little.
//
// # Order
//
// Objects that are being deleted come first, then forced reconciles, then objects that changed themselves or whose
// children changed, then retries and timers, then objects that existed when the engine started. More urgent objects get
// a head start of some seconds, up to a minute, so that nothing waits for ever. The time that a result asks for
// replaces the time that an earlier result asked for.
//
// # Kinds that come and go
//
// [Engine.Control] and [Engine.Release] work while the engine runs, so that kinds can be reconciled whose definitions
// are created later.
//
// # Failures
//
// The engine waits for a kind that can't be watched yet. A panic counts as a failure of its object. A reconcile that
// ignores the end of its context is logged. While the cluster doesn't answer, failures are logged once a minute, not
// for each object. [Engine.State] returns the state of the engine, for health checks and metrics. When the leadership
// is lost that the context of Run belongs to (leader.TermOf), running reconciles are cancelled immediately.
//
// # When to use it
//
// Use it through package operator, or alone to run your own Reconciler over a View. Don't
// use it for one-off work: call the reconciler itself.
package watch
