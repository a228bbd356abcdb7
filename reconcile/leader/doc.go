// Package leader makes sure that only one of several replicas of an operator works at a time, or that only one of them
// works on each object at a time.
//
//	lock, err := leader.Lease(api.Port(), "shop/guestbook-operator")
//	...
//	config.Wrap(lock.Transport) // of the client that the work uses
//	err = lock.Run(ctx, engine.Run)
//
// Run waits until this replica leads, calls the work, and releases the leadership when the work has ended. [Lease] uses
// a Lease, which the holder renews; when the holder dies, another replica takes over when the Lease has expired.
// [ForLife] uses a ConfigMap that the holder's Pod owns: no replica takes over before that Pod is gone. [None] always
// leads, for a test or an operator with only one replica.
//
// [PerObject] is different: all replicas work, and each object is locked by two of its annotations while a replica
// works on it.
//
// # Guarantees
//
//   - Two replicas never lead at once, whatever their clocks say: a candidate measures on its own clock for how long
//     the Lease hasn't changed, and a holder measures how long ago it sent its last renewal. Only the speed of these
//     clocks has to agree, to within the renew deadline and the duration. The clock of a suspended machine stops. It
//     doesn't stop for a process that is stopped by a signal or gets no processor time.
//   - A lock that can't be read is never taken: after an error a candidate waits, and a holder goes on until its
//     renew deadline. Every write has the precondition that nothing was written since the read; after a conflict the
//     other replica is the holder.
//   - No call leaves through [Elector.Transport] after the renew deadline, even if the process was frozen for a while;
//     calls under way at the deadline are cancelled. The API server may still carry out such a call: it has the time
//     between the deadline and the duration to do so before another replica leads. No lock can prevent that a process
//     is frozen between the last check of a call and the sending of this call, and so sends it late.
//   - The leadership is released last: while the work winds up after a signal it is still renewed.
//
// If somebody deletes the Lease, its holder creates it again at the next renewal. If another replica creates it first,
// both lead until the old holder notices. So only the operator should have the right to delete it.
//
// # Rights
//
// The service account needs get, create and update of leases in coordination.k8s.io; [ForLife] needs
// get and create of configmaps and get of pods; [PerObject] get, list, watch and patch of the objects.
//
// # When to use it
//
// Use it for every operator of which several replicas may run, even if only during a rolling update. Don't use it for
// short critical sections: a takeover takes seconds.
//
// Use [Lease] by default. [PerObject] is for an operator whose reconciles take so long, or so much memory, that one
// replica can't do them all, and for operators that move from a framework with such locks. It costs two writes for each
// reconcile, and one more for each retry period while the reconcile runs. Since each replica sees each change, all of
// them reconcile the object, one after the other, which multiplies the writes by the number of replicas. An object
// without changes costs nothing, except for periodic reconciles. Package filter ignores the annotations, so that a lock
// causes no reconcile of the object itself. It may cause reconciles of objects that follow or own the object. If
// objects can be partitioned, run one Deployment of the operator for each set of namespaces instead.
//
// A lock on an object has the guarantees of a Lease, with two differences. The annotations don't hold the duration, so
// all replicas need the same Timing. And anybody who may edit an object can remove its lock: the holder notices that at
// its next renewal.
package leader
