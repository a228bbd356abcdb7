package readiness

// State is the answer to 'is it ready?'.
type State string

// The states. Only Ready means verified; Failed, unlike InProgress, doesn't get
// better by waiting.
const (
	// Ready: the object is as its spec wants it (kstatus: Current).
	Ready State = "Ready"
	// InProgress: on the way; wait.
	InProgress State = "InProgress"
	// Failed: someone has to do something.
	Failed State = "Failed"
	// Terminating: being deleted; never ready again.
	Terminating State = "Terminating"
	// NotFound: there is no object.
	NotFound State = "NotFound"
	// Unknown: the object says something that no rule knows.
	Unknown State = "Unknown"
)

// Result is the answer for one object.
type Result struct {
	State State
	// Reason is a CamelCase word that programs may compare.
	Reason string
	// Message is a sentence for people.
	Message string
	// Fields are the paths of the fields that decided, the deciding one first;
	// conditions as status.conditions[Ready]. nil when presence was enough. The
	// slice may be shared between results: don't write to it.
	Fields []string
}

// Ready tells whether the state is Ready.
func (r Result) Ready() bool { return r.State == Ready }

func ready(reason, message string, fields ...string) Result {
	return Result{Ready, reason, message, fields}
}

func inProgress(reason, message string, fields ...string) Result {
	return Result{InProgress, reason, message, fields}
}

func failed(reason, message string, fields ...string) Result {
	return Result{Failed, reason, message, fields}
}

func unknown(reason, message string, fields ...string) Result {
	return Result{Unknown, reason, message, fields}
}
