// Package handlers is a style of operator: functions that are called for what happens to an object. A function is
// called when an object is created, when a field of it changes, when it is deleted, from time to time, or as long as it
// exists. The package remembers on the object which functions have succeeded, so that a restart repeats none of them.
//
//	h := handlers.New[Claim](claims)
//	h.On(handlers.Create, "volume", func(ctx context.Context, r *handlers.Request[Claim]) error {
//		if err := r.Apply(ctx, volume(r.Object)); err != nil {
//			return err
//		}
//		r.Update(func(c *Claim) { c.Status.Volume = c.Name })
//		return nil
//	})
//	op := operator.New("claims")
//	op.Drive(h)
//	op.Main()
//
// # Causes
//
// An operator keeps a record in an annotation of each object: the part of the object that its users decide, as the
// handlers saw it last. This part, the essence, has all fields except metadata and status, and the labels and the
// annotations. A difference between the record and the object is an update, also if it arose while no operator ran.
// Several changes at once are one update.
//
//   - Create: there is no record, because the object is new, or because it was restored or copied.
//   - Update: the essence has changed.
//   - Delete: the object is being deleted. A finalizer holds it until the handlers have ended.
//   - Resume: the process sees an object for the first time that was handled before.
//
// Timers and crons are called by time instead (Timer, Cron), and handlers of Seen for each event.
//
// # Attempts
//
// The handlers of a cause are called one after the other, in the order of registration. One that fails doesn't stop the
// others; it is called again after a time, by default without end: see MaxAttempts, Within, Backoff and Errors. When
// all handlers of a cause have ended, the record is written. So handlers must be idempotent: after a crash the one that
// was running is called again, and all of them are if the record is lost, for example by `kubectl replace` (see
// RecordInStatus).
//
// # Cost
//
// A pass over an object costs at most one write of its status, and one of its metadata; more if several handlers are
// called, because what has succeeded is stored before the next one is called. An object for which nothing has happened
// costs no request, and no goroutine but those of its daemons. The process remembers about 800 bytes of each object,
// beside the object itself.
//
// # When to use it
//
// Use it for work that is done when something happens, such as calls of other systems, and for operators that are moved
// from kopf. Use the sessions of package reconcile for a resource that consists of objects in the cluster: they repair
// objects that others change, delete objects that are no longer rendered, and know when all are ready. Handlers do none
// of that.
package handlers
