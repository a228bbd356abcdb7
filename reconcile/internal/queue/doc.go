// Package queue holds the keys of the objects that are to be reconciled, each at most once. Urgent keys come first, but
// the time that a key has waited counts too, so no key waits for ever.
//
// Use it for the engine of package watch. It doesn't deal with reconcilers, backoff or events.
package queue
