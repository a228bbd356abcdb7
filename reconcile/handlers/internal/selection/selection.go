package selection

import "github.com/operkit/operkit/reconcile/handlers/internal/cause"

// On is a set of causes for which a handler is called.
type On uint16

// The causes. Handlers of Seen, Reported, Timer and Daemon are called independently of what was handled before.
const (
	Create On = 1 << iota
	Update
	Delete
	// Resume handlers are called once for each object that was there when the process started, together with the
	// handlers of an update if there is one.
	Resume
	// Field handlers are called for updates that change their field.
	Field
	Seen
	Timer
	Daemon
	Reported
)

// Recorded are the causes for which it matters what was handled before.
const Recorded = Create | Update | Resume | Field

// beside are the causes that don't depend on what was handled before.
const beside = Seen | Timer | Daemon | Reported

// Handler is what decides whether a handler is called.
type Handler struct {
	ID     string
	On     On
	Filter Filter
	// ResumeDeleted: a Resume handler is called for an object that is being deleted, too.
	ResumeDeleted bool
	// Optional: a Delete handler needs no finalizer. It isn't called if the object is gone by then.
	Optional bool
}

// Object is an object and the cause that is handled.
type Object struct {
	// Body is the whole object, New its essence, and Old the essence that was handled last, nil for none.
	Body, New, Old map[string]any
	Reason         cause.Reason
	// First: Resume handlers weren't called for the object in this process.
	First bool
	// Changed reports whether a field differs from an essence that was too large to be kept, and whether that is known;
	// nil if it never is.
	Changed func(path []string) (changed, known bool)
	// Unreadable: the function When of a filter can't read the object, which passes it.
	Unreadable bool
}

// Called reports whether a handler is called for an object.
func Called(h Handler, o Object) bool { return h.fits(o) && h.sees(o) && h.isDue(o) }

// Decision is what Sees, Called and NeedsFinalizer report.
type Decision struct{ Sees, Called, NeedsFinalizer bool }

// Decide returns the Decision about an object. It applies the filter once.
func Decide(h Handler, o Object) Decision {
	if !h.sees(o) {
		return Decision{}
	}
	return Decision{Sees: true, Called: h.fits(o) && h.isDue(o), NeedsFinalizer: h.holds()}
}

// fits reports whether the handler is one for the reason.
func (h Handler) fits(o Object) bool { return h.On&beside != 0 || h.resumes(o) || h.answers(o.Reason) }

// isDue reports whether the update, if it is one, changes what the handler is about.
func (h Handler) isDue(o Object) bool {
	return h.On&beside != 0 || h.resumes(o) || o.Reason != cause.Update || h.Filter.changes(o)
}

// holds reports whether the handler needs the finalizer on the objects that it sees.
func (h Handler) holds() bool { return h.On&Delete != 0 && !h.Optional || h.On&Daemon != 0 }

// Sees reports whether the object is one that the handler is about at all. An object that no handler sees is left
// alone: nothing is recorded on it.
func Sees(h Handler, o Object) bool { return h.sees(o) }

// NeedsFinalizer reports whether the object has to have the operator's finalizer because of the handler.
func NeedsFinalizer(h Handler, o Object) bool {
	return h.holds() && h.sees(o)
}

// sees reports whether the object passes the handler's filter.
func (h Handler) sees(o Object) bool { return h.Filter.sees(o, h.On&(Update|Field) != 0) }

// resumes reports whether the handler is called because the process sees the object for the first time.
func (h Handler) resumes(o Object) bool {
	if h.On&Resume == 0 || !o.First {
		return false
	}
	switch o.Reason {
	case cause.Resume, cause.Update:
		return true
	}
	return o.Reason == cause.Delete && h.ResumeDeleted
}

// answers reports whether the handler is called for a reason.
func (h Handler) answers(reason cause.Reason) bool {
	switch reason {
	case cause.Create:
		return h.On&Create != 0
	case cause.Update:
		return h.On&(Update|Field) != 0
	case cause.Delete:
		return h.On&Delete != 0
	}
	return false
}
