package reconcile

import "github.com/operkit/operkit/reconcile/internal/lifecycle"

// ConditionPaused is the type of the condition that reports a pause: True, with ReasonPaused or ReasonPausedUntil,
// while the resource is paused, and absent otherwise. It has no observedGeneration, because a pause doesn't depend on
// the spec. The other conditions stay as they were when the pause began, including their observedGeneration.
const ConditionPaused = lifecycle.ConditionPaused

// The reasons of ConditionPaused.
const (
	// ReasonPaused: paused until the annotation is changed.
	ReasonPaused = lifecycle.ReasonPaused
	// ReasonPausedUntil: paused until the time in the annotation.
	ReasonPausedUntil = lifecycle.ReasonPausedUntil
)
