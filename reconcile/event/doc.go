// Package event tells people what happens to resources, by events of the API group events.k8s.io: kubectl get events shows them, and
// kubectl describe below the resource.
//
//	recorder := event.NewRecorder(cluster.Port(), "guestbook-operator", "guestbook-operator-0")
//	go recorder.Run(ctx)
//	recorder.Record(event.Event{Regarding: event.Of(guestbook), Type: event.Normal, Reason: "Opened", Note: "the book is open"})
//
// Recording never waits and never fails: what can't be written is dropped, and said in the log once. The same event again is the same
// object with a count; a resource about which there is no end of events has few of them written.
//
// # When to use it
//
// A reconcile.Reconciler with the option Events records what it does by itself, and what a controller says by Session.Event. Use it
// alone in any program that has something to tell about an object. Don't use it for what a program has to remember, or what
// another one waits for: events go after an hour, and some are lost. That is what a status is for.
package event
