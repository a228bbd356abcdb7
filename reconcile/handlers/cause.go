package handlers

import (
	"github.com/operkit/operkit/reconcile/handlers/internal/cause"
	"github.com/operkit/operkit/reconcile/handlers/internal/diff"
	"github.com/operkit/operkit/reconcile/handlers/internal/selection"
)

// Cause is why a handler is called. Causes are combined by |.
type Cause uint8

// The causes.
const (
	// Create: the object is new. An object without a record of this operator counts as new.
	Create = Cause(selection.Create)
	// Update: the object has changed since it was handled.
	Update = Cause(selection.Update)
	// Delete: the object is being deleted.
	Delete = Cause(selection.Delete)
	// Resume: the process sees the object for the first time, and it was handled before. The handler is called once per
	// object and process: also with an update, but not for a new object, and not for one that is being deleted unless
	// WhileDeleting is set.
	Resume = Cause(selection.Resume)
)

// String returns the names of the causes: "create|resume".
func (c Cause) String() (text string) {
	for _, one := range []struct {
		cause Cause
		name  string
	}{{Create, "create"}, {Update, "update"}, {Delete, "delete"}, {Resume, "resume"}} {
		if c&one.cause == 0 {
			continue
		}
		if text != "" {
			text += "|"
		}
		text += one.name
	}
	return text
}

func causeOf(reason cause.Reason) Cause {
	switch reason {
	case cause.Create:
		return Create
	case cause.Update:
		return Update
	case cause.Delete:
		return Delete
	case cause.Resume:
		return Resume
	}
	return 0
}

// Op is what happened to a field.
type Op = diff.Op

// The values of Op.
const (
	// Added: the field was absent.
	Added = diff.Add
	// Changed: the field has another value.
	Changed = diff.Change
	// Removed: the field is absent now.
	Removed = diff.Remove
)

// Change is one field of an object that differs from its state when it was handled last. Lists are compared as a whole.
type Change = diff.Item
