package daemon

import (
	"context"
	"errors"

	"github.com/operkit/operkit/reconcile/leader"
	"github.com/operkit/operkit/reconcile/peering"
	"github.com/operkit/operkit/reconcile/source"
)

// Stop is the reason why a daemon is stopped: context.Cause of its context. Its text is the reason, for logs. errors.Is
// reports that each Stop is context.Canceled, and that Lost is leader.ErrLost.
type Stop string

// The reasons. The first one that occurs stays the reason, whatever happens while the daemon ends.
const (
	// Deleting: the deletion of the object has begun.
	Deleting Stop = "the object is being deleted"
	// Gone: the object doesn't exist any more, or the operator doesn't see it any more.
	Gone Stop = "the object is gone"
	// Replaced: another object has the name of the object.
	Replaced Stop = "the object was replaced by another one with its name"
	// Mismatch: the object isn't one of those that are to have the daemon any more.
	Mismatch Stop = "the object doesn't match the daemon any more"
	// Paused: the object is paused.
	Paused Stop = "the object is paused"
	// Standby: another process of the operator has taken over, or the operator is frozen.
	Standby Stop = "the operator is paused"
	// Released: the operator no longer reconciles the kind of the object.
	Released Stop = "the kind is no longer reconciled"
	// Exiting: the operator ends.
	Exiting Stop = "the operator ends"
	// Lost: the operator isn't the leader any more.
	Lost Stop = "the leadership was lost"
	// Overdue: the daemon has run for as long as its limits allow.
	Overdue Stop = "the time of the daemon is over"
)

// Error implements error.
func (s Stop) Error() string { return string(s) }

// Is implements errors.Is.
func (s Stop) Is(target error) bool {
	return target == context.Canceled || s == Lost && target == leader.ErrLost
}

// endOf returns why the watch of a kind ends, by its context and its term.
func endOf(ctx context.Context, term leader.Term) Stop {
	cause := context.Cause(ctx)
	select {
	case <-term.Lost:
		return Lost
	default:
	}
	switch {
	case errors.Is(cause, leader.ErrLost):
		return Lost
	case errors.Is(cause, source.ErrReleased):
		return Released
	case errors.Is(cause, peering.ErrPaused):
		return Standby
	}
	return Exiting
}
