// Package source declares the events that bring the objects of a kind to reconcile: of the objects themselves, of
// objects that they own, of other kinds, and from outside the cluster. Package watch implements the declarations, and
// package reconciletest does so for tests.
//
//	func (Guestbook) Sources() source.Sources {
//		return source.Sources{
//			Owned:    []source.Owned{{Kind: deployments}, {Kind: services, When: filter.Content()}},
//			Mapped:   []source.Mapped{{Kind: nodes, Keys: guestbooksOf}},
//			External: []source.External{source.Poll(time.Minute, versions)},
//		}
//	}
//
// Without Sources, filter.Standard decides which events of an object count, and children are watched once a reconcile
// has named their kind (watch.Engine.Own). Declared kinds are watched from the start, so that events of a child before
// the first reconcile are seen too.
//
// Indexed kinds bring nothing to reconcile: their events keep a table up to date in which reconciles look things up. It
// is complete before the first reconcile.
//
// # When to use it
//
// Use it where a reconcile depends on more than the object and the objects that it owns, or where some events shouldn't
// count. To follow single objects that an object names, such as a Secret, use watch.Engine.Follow or
// reconcile.Session.Follow (FollowAll for a selector) in the reconcile that reads them: then no mapping is needed. To
// reconcile at a certain time use RequeueAfter of the result.
package source
