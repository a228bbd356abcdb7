// Package leader has one of several replicas of an operator work at a time, or each object be worked on by one of them.
//
//	lock, err := leader.Lease(api.Port(), "shop/guestbook-operator")
//	...
//	config.Wrap(lock.Transport) // of the client that the work uses
//	err = lock.Run(ctx, engine.Run)
//
// Run waits until this replica leads, works, and gives the leadership back once the work has
// ended. [Lease] holds it in a Lease: the holder renews that all the time, and one that dies is
// followed by another replica when the Lease has run out. [ForLife] holds it in a ConfigMap that the
// holder's Pod owns: nobody takes over before that Pod is gone. [None] always leads, for an operator
// of which only one replica can run, or a test.
//
// [PerObject] is something else: all replicas work, and each object is locked by two of its annotations while one of them
// works on it.
//
// # What holds
//
//   - Two replicas never lead at once, whatever their clocks say: a candidate measures on its own
//     clock how long the Lease has stood still, a holder how long ago it sent its last renewal. Only how
//     fast these clocks go has to agree, to within the renew deadline and the duration. A machine that is
//     suspended as a whole stops its clock; what is stopped by a signal or has no processor time doesn't.
//   - What can't be read is never taken: after an error a candidate waits, and a holder goes on until its
//     renew deadline. Every write has the precondition that nothing was written since the read, and a
//     conflict is a defeat.
//   - No call leaves through [Elector.Transport] after the renew deadline, also when the process was
//     frozen for a while and nothing could cancel it; what is under way at the deadline is cancelled. The
//     API server may still carry such a call out: from the deadline to the duration it has time for that before
//     another replica leads. A process that is frozen between the last check of a call and its sending can't be helped by any
//     lock: the time it is frozen for is what delays that one call.
//   - The leadership is released last: while the work winds up after a signal it is still renewed.
//
// A Lease that somebody deletes is made anew by its holder at the next renewal, unless another replica
// was faster: until the holder notices, both lead. Nobody but the operator should have the right to.
//
// # Rights
//
// The service account needs get, create and update of leases in coordination.k8s.io; [ForLife] needs
// get and create of configmaps and get of pods; [PerObject] get, list, watch and patch of the objects.
//
// # When to use it
//
// Use it for every operator that may run more than once, if only during a rolling update. It is nothing
// for short critical sections: to take over takes seconds.
//
// [Lease] is the one to take. [PerObject] is for an operator whose reconciles take so long, or so much memory, that one
// replica can't do them all, and for those who move over from a framework that locks so. It costs two writes for each
// reconcile, and one more with each retry period while it goes on; and since each replica hears of each change, each of
// them reconciles it, one after the other, so that the writes are as many times more as there are replicas. An object at
// rest costs nothing, but for what is reconciled from time to time. Package filter leaves the annotations out, so that a
// lock that is taken brings no reconcile of the object, though it may of others that follow or own it. Where objects can
// be told apart beforehand, give each Deployment of the operator namespaces of its own instead.
//
// What holds per object is what holds of a Lease, with two differences. The annotations don't say for how long a lock is
// held, so all replicas need the same Duration. And whoever may edit the objects can take a lock away: its holder notices
// at its next renewal.
package leader
