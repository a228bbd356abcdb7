// Package source declares what brings the objects of a kind to reconcile, beside time and failures: which events of
// their own, of the objects that they own, of other kinds, and what happens outside of the cluster. It is a
// description; package watch acts on it, and package reconciletest simulates it in tests.
//
//	func (Guestbook) Sources() source.Sources {
//		return source.Sources{
//			Owned:    []source.Owned{{Kind: deployments}, {Kind: services, When: filter.Content()}},
//			Mapped:   []source.Mapped{{Kind: nodes, Keys: guestbooksOf}},
//			External: []source.External{source.Poll(time.Minute, versions)},
//		}
//	}
//
// Without Sources an object is reconciled by filter.Standard, and children are watched once a reconcile has named their
// kind (watch.Engine.Own). Declared kinds are watched from the start, so that events of a child before the first
// reconcile are seen too.
//
// # When to use it
//
// Use it where a reconcile depends on more than the object and what it owns, and where events are to be left out. To
// follow single objects that an object names, such as a Secret, use watch.Engine.Follow or reconcile.Session.Follow in
// the reconcile that reads them: then nothing has to be mapped. For what has to happen at a time use RequeueAfter of
// the result.
package source
