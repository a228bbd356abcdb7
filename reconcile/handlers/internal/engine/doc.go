// Package engine calls the handlers of a kind: it finds out what has happened to an object, calls the handlers that are
// due, one after the other, and writes what they have set, the record and the finalizer. It knows nothing of the types
// of users; package handlers puts them above it.
//
// One pass over an object goes through the files in this order: reconciler, seen (events that wait), pass (why handlers
// are called, and which), unreadable (objects that can't be given to handlers), daemons, call and step (attempts),
// timed (timers and crons), write. Events and daemons have a work of their own beside the passes; edits knows what all
// of them have changed.
package engine
