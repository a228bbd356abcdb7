// Package source says what brings the objects of a kind to reconcile, beside time and failures: which events of their
// own, of the objects that they own, of other kinds, and what happens outside of the cluster. It is a description; package
// watch acts upon it, and package reconciletest plays it in tests.
//
//	func (Guestbook) Sources() source.Sources {
//		return source.Sources{
//			Owned:    []source.Owned{{Kind: deployments}, {Kind: services, When: filter.Content()}},
//			Mapped:   []source.Mapped{{Kind: nodes, Keys: guestbooksOf}},
//			External: []source.External{source.Poll(time.Minute, versions)},
//		}
//	}
//
// Nothing has to be said: without Sources an object is reconciled by filter.Standard, and children are watched once a
// reconcile has told of their kind (watch.Engine.Own). What is said here is watched from the start, so that what
// happens to a child before the first reconcile is seen too.
//
// # When to use it
//
// Use it where a reconcile depends on more than the object and what it owns, and where events are to be left out. To
// follow single objects that an object names, such as a Secret, use watch.Engine.Follow or reconcile.Session.Follow:
// they are asked for in the reconcile that reads them, so that nothing has to be mapped. Don't use it for what has to
// happen at a time: a result's RequeueAfter does that.
package source
