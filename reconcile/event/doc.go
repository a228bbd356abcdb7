// Package event records what happens to resources as events of the API group events.k8s.io, which kubectl get events
// and kubectl describe show.
//
//	recorder := event.NewRecorder(cluster.Port(), "guestbook-operator", "guestbook-operator-0")
//	go recorder.Run(ctx)
//	recorder.Record(event.Event{Regarding: event.Of(guestbook), Type: event.Normal, Reason: "Opened", Note: "the book is open"})
//
// Recording never waits and never fails: what can't be written is dropped and logged once. An event that is repeated is
// one object with a count, and the events about one resource are bounded.
//
// # When to use it
//
// The option Events of a reconcile.Reconciler records what that does, and what a controller records by Session.Event.
// Use the package alone in a program that isn't an operator. Don't use events for what a program has to remember or
// another one waits for: they are deleted after an hour, and some are lost. Use a status for that.
package event
