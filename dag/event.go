package dag

import (
	"fmt"
	"time"
)

// EventKind is what an [Event] tells.
type EventKind string

// The kinds of events. Of each node that a run knows, the last one is either EventFinished or
// EventBlocked.
const (
	// EventStarted says that the visit of a node begins.
	EventStarted EventKind = "started"
	// EventWaiting says that a predicate has answered false for the first time. It is asked again,
	// so that the node may still start.
	EventWaiting EventKind = "waiting"
	// EventFinished says that a visit has returned, or was abandoned.
	EventFinished EventKind = "finished"
	// EventBlocked says that a node won't be started in this run any more.
	EventBlocked EventKind = "blocked"
)

// Event is something that happened to a node during a run.
type Event struct {
	// Kind is what happened.
	Kind EventKind
	// Name is the node's.
	Name string
	// Time is when it happened, which may be some time before the observer learns of it.
	Time time.Time
	// Outcome is how a finished node ended; OutcomeUnstarted in all other events.
	Outcome Outcome
	// Duration is how long the visit of a finished node took.
	Duration time.Duration
	// Err is the error of a finished node, or that of the predicate that blocks one.
	Err error
	// Reason is why a node waits or is blocked, as [State.Reason] says it. If more than one
	// dependency holds a node back, the State may in the end name another one.
	Reason string
}

// String is the event in a line without its time, as in "finished db: verified in 2s".
func (e Event) String() string {
	text := fmt.Sprintf("%s %s", e.Kind, e.Name)
	switch {
	case e.Kind == EventFinished && e.Err != nil:
		return fmt.Sprintf("%s: %s in %s: %v", text, e.Outcome, e.Duration, e.Err)
	case e.Kind == EventFinished:
		return fmt.Sprintf("%s: %s in %s", text, e.Outcome, e.Duration)
	case e.Reason != "":
		return text + ": " + e.Reason
	}
	return text
}

// last tells whether no further event of the node follows.
func (e Event) last() bool { return e.Kind == EventFinished || e.Kind == EventBlocked }
