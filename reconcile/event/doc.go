// Package event records what happens to resources as events of the API group events.k8s.io, which kubectl get events
// and kubectl describe show.
//
//	recorder := event.NewRecorder(cluster.Port(), "guestbook-operator", "guestbook-operator-0", logger)
//	go recorder.Run(ctx)
//	recorder.Record(event.Event{Regarding: event.Of(guestbook), Type: event.Normal, Reason: "Opened", Note: "the book is open"})
//
// Recording never blocks and never fails: an event that can't be written is dropped, and the error is logged. A
// repeated event is one object with a count, and the number of events about one resource is bounded.
//
// # When to use it
//
// With the option Events, a reconcile.Reconciler records its own events and the events of Session.Event. Use the
// package alone in a program that isn't an operator. Don't use events for state that a program must keep or that
// another program waits for: they are deleted after an hour, and some are lost. Use a status for that.
package event
