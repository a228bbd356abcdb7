// Package queue holds the objects that are to be reconciled: each at most once, ordered by urgency, so that nothing
// waits for ever.
//
// Use it for the engine of package watch. It knows no reconcilers, no backoff and no events.
package queue
