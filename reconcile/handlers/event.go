package handlers

import "github.com/operkit/operkit/reconcile/handlers/internal/engine"

// The reasons of events about handlers.
const (
	// EventFailed is the reason of a warning: an attempt of a handler has failed, and another follows.
	EventFailed = engine.EventFailed
	// EventGivenUp is the reason of a warning: a handler has failed for good.
	EventGivenUp = engine.EventGivenUp
	// EventAbandoned is the reason of a warning: a daemon didn't return after it was stopped, and nothing waits for it
	// any more.
	EventAbandoned = engine.EventAbandoned
	// EventUnreadable is the reason of a warning, and of conditions: the type of the handlers can't hold the object, so
	// that no handler is called for it.
	EventUnreadable = engine.EventUnreadable
)
