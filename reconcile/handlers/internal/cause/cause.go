package cause

// Reason is why handlers are called.
type Reason string

// The reasons, in the order in which they are decided: the first one that fits counts.
const (
	// Gone: the object doesn't exist any more.
	Gone Reason = "gone"
	// Free: the object is being deleted, and the operator has nothing to do with that.
	Free Reason = "free"
	// Delete: the object is being deleted, and waits for the operator's finalizer.
	Delete Reason = "delete"
	// Create: the object was never handled.
	Create Reason = "create"
	// Resume: the process sees an object for the first time, which was handled as it is.
	Resume Reason = "resume"
	// Noop: the object was handled as it is.
	Noop Reason = "noop"
	// Update: the object has changed since it was handled.
	Update Reason = "update"
)

// State is what is known about an object.
type State struct {
	// Gone: the object doesn't exist any more.
	Gone bool
	// Deleting: the object has a deletionTimestamp. Finalizer: it has the operator's finalizer.
	Deleting, Finalizer bool
	// Handled: there is a record of the essence that was handled last. Changed: the present essence differs from it.
	Handled, Changed bool
	// First: the object was there when the process started, and no pass over it has ended.
	First bool
}

// Of returns the reason.
func Of(s State) Reason {
	switch {
	case s.Gone:
		return Gone
	case s.Deleting && !s.Finalizer:
		return Free
	case s.Deleting:
		return Delete
	case !s.Handled:
		return Create
	case s.Changed:
		return Update
	case s.First:
		return Resume
	}
	return Noop
}
