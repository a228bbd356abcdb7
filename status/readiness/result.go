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
	// State is the answer itself.
	State State
	// Reason is a CamelCase word that programs may compare.
	Reason string
	// Message is a sentence for people, in the words of the most specific condition that explains the State. Reason
	// names the rule that decided, which may be a more general one.
	Message string
	// Remark reports that a Ready object is in an unusual state that its Message describes, such as a volume that is
	// being resized or a Deployment that is paused.
	Remark bool
	// Fields are the paths of the fields that decided, the deciding one first;
	// conditions as status.conditions[Ready]. nil when presence was enough. The
	// slice may be shared between results: don't write to it.
	Fields []string
	// Object names the object, as far as it is named in itself. It is empty for
	// an object that isn't there: who asked knows its name.
	Object Object
}

// Object is the name of an object.
type Object struct {
	// Group, Kind, Namespace and Name are what the object says; what it doesn't say is empty.
	Group, Kind, Namespace, Name string
}

// String answers the form Kind.group namespace/name, without what is empty.
func (o Object) String() string {
	name := o.Kind
	if o.Group != "" {
		name += "." + o.Group
	}
	if o.Name == "" {
		return name
	}
	if name != "" {
		name += " "
	}
	if o.Namespace != "" {
		name += o.Namespace + "/"
	}
	return name + o.Name
}

// Ready tells whether the state is Ready.
func (r Result) Ready() bool { return r.State == Ready }

func ready(reason, message string, fields ...string) Result {
	return Result{State: Ready, Reason: reason, Message: message, Fields: fields}
}

// remark returns a Ready result whose message somebody should see.
func remark(reason, message string, fields ...string) Result {
	result := ready(reason, message, fields...)
	result.Remark = true
	return result
}

func inProgress(reason, message string, fields ...string) Result {
	return Result{State: InProgress, Reason: reason, Message: message, Fields: fields}
}

func failed(reason, message string, fields ...string) Result {
	return Result{State: Failed, Reason: reason, Message: message, Fields: fields}
}

func unknown(reason, message string, fields ...string) Result {
	return Result{State: Unknown, Reason: reason, Message: message, Fields: fields}
}

func terminating(message string, fields ...string) Result {
	return Result{State: Terminating, Reason: "Terminating", Message: message, Fields: fields}
}
