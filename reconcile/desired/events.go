package desired

import "github.com/operkit/operkit/reconcile/desired/internal/engine"

// The reasons of the events that are recorded about parents. One event is about all children of one reconcile, and
// names the first of them. Which events are written is a matter of the operator, see package event.
const (
	// EventCreated, EventChanged, EventRecreated and EventDeleted: children were created, changed by an apply or a
	// replacement, deleted and created again, or deleted.
	EventCreated   = engine.EventCreated
	EventChanged   = engine.EventChanged
	EventRecreated = engine.EventRecreated
	EventDeleted   = engine.EventDeleted
	// EventAdopted: objects got the parent as their controller, by an Adopter or because they had lost it.
	EventAdopted = engine.EventAdopted
	// EventReleased: adopted objects aren't children any more, since the Adopter doesn't select them.
	EventReleased = engine.EventReleased
	// EventSyncFailed is the reason of a warning: a function has failed or returned something that is no status, or what
	// it needs couldn't be read. Like each warning it is recorded when the error is another one than before, and not for
	// errors that usually go away by themselves.
	EventSyncFailed = engine.EventSyncFailed
	// EventRefused is the reason of a warning: a function has returned a child that the parent can't have (ChildError).
	EventRefused = engine.EventRefused
	// EventChildFailed is the reason of a warning: children couldn't be applied, adopted or deleted.
	EventChildFailed = engine.EventChildFailed
)

// ConditionUnreadable is the type of a condition that is True, with ReasonTypeDoesNotMatch, while T can't hold a
// parent, for example because a field has another type. Its message names the field. No function is called for such a
// parent, its children stay as they are, and its deletion waits if it has the finalizer. It is absent otherwise.
const ConditionUnreadable = engine.ConditionUnreadable

// ReasonTypeDoesNotMatch is the reason of ConditionUnreadable.
const ReasonTypeDoesNotMatch = engine.ReasonTypeDoesNotMatch
