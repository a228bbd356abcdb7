package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// State is the state of an object.
type State string

// The states. Only Ready means verified. An object that is InProgress may become Ready without help; an object that is
// Failed needs help.
const (
	// Ready: the object has reached the state that its spec describes (kstatus: Current).
	Ready State = "Ready"
	// InProgress: the object isn't ready yet; wait.
	InProgress State = "InProgress"
	// Failed: the object needs somebody's help.
	Failed State = "Failed"
	// Terminating: the object is being deleted and won't be ready again.
	Terminating State = "Terminating"
	// NotFound: there is no object.
	NotFound State = "NotFound"
	// Unknown: no rule can judge the object.
	Unknown State = "Unknown"
)

// Result is the readiness of one object.
type Result struct {
	// State is the state of the object.
	State State
	// Reason is a CamelCase word that programs may compare.
	Reason string
	// Message is a sentence for people. It comes from the most specific condition that explains the State, while Reason
	// names the rule that decided, which may be more general.
	Message string
	// Remark reports that a Ready object is in an unusual state that its Message describes, such as a volume that is
	// being resized or a Deployment that is paused.
	Remark bool
	// Fields are the paths of the fields that decided, the most important first. The path of a condition is, for
	// example, status.conditions[Ready]. Fields is nil if presence was enough. Results may share the slice: don't write
	// to it.
	Fields []string
	// Object is the name that is read from the object. It is empty for an absent object, whose name only the caller
	// knows.
	Object Object
}

// Object is the group, kind, namespace and name of an object.
type Object struct {
	// Group, Kind, Namespace and Name are empty where the object doesn't have them.
	Group, Kind, Namespace, Name string
}

// String returns the form Kind.group namespace/name, without the empty parts.
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

// Ready reports whether the state is Ready.
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

// maxCauses limits the other objects that a message names as the cause.
const maxCauses = 2

// Because returns r with the messages of others appended to its own. The others are results of objects that r's object
// depends on, such as the Pods and claims of a workload. Only others that aren't Ready count, the worst first and at
// most two. State, Reason and Object stay. A Ready r is returned unchanged. Because changes none of its arguments.
func (r Result) Because(others ...Result) Result {
	if r.Ready() {
		return r
	}
	blockers := All(others...).Blockers
	for i, blocker := range blockers[:min(maxCauses, len(blockers))] {
		words := fmt.Sprintf("%s %s: %s", blocker.Object.Kind, blocker.Object.Name, cmp.Or(blocker.Message, blocker.Reason))
		if i == 0 {
			r.Message += ": " + words
		} else {
			r.Message += "; " + words
		}
	}
	return r
}

// Summary combines several results.
type Summary struct {
	// State is the worst state of the results, Ready if there are none. From worst to best the states are Failed,
	// Unknown, Terminating, NotFound, InProgress, Ready.
	State State
	// Message is a sentence for people that names the first blockers.
	Message string
	// Blockers are the results that aren't Ready, sorted by state (the worst first), name, reason and message.
	Blockers []Result
	// ReadyCount is the number of Ready results, Total the number of all results.
	ReadyCount, Total int
}

// Ready reports whether the state is Ready.
func (s Summary) Ready() bool { return s.State == Ready }

// maxNamed limits the blockers that a message names.
const maxNamed = 3

// All combines the results of several objects, such as the children of one object. It doesn't change the results. The
// result for an absent object has no name: set its Object, so that the message can name it.
func All(results ...Result) Summary {
	s := Summary{State: Ready, Total: len(results)}
	for _, result := range results {
		if !result.Ready() {
			s.Blockers = append(s.Blockers, result)
		}
	}
	s.ReadyCount = s.Total - len(s.Blockers)
	slices.SortStableFunc(s.Blockers, func(a, b Result) int {
		return cmp.Or(
			a.State.rank()-b.State.rank(), strings.Compare(a.Object.String(), b.Object.String()),
			strings.Compare(a.Reason, b.Reason), strings.Compare(a.Message, b.Message),
		)
	})
	s.Message = fmt.Sprintf("%d of %d are ready", s.ReadyCount, s.Total)
	if len(s.Blockers) == 0 {
		return s
	}
	s.State = s.Blockers[0].State
	parts := []string{s.Message}
	for _, blocker := range s.Blockers[:min(maxNamed, len(s.Blockers))] {
		parts = append(parts, fmt.Sprintf("%s: %s: %s", cmp.Or(blocker.Object.String(), "an object"), blocker.State, blocker.Message))
	}
	if more := len(s.Blockers) - maxNamed; more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	s.Message = strings.Join(parts, "; ")
	return s
}

// rank orders states from the worst to the best.
func (s State) rank() int {
	switch s {
	case Failed:
		return 0
	case Terminating:
		return 2
	case NotFound:
		return 3
	case InProgress:
		return 4
	case Ready:
		return 5
	}
	return 1 // Unknown, and any other state that a function of a Registry returns
}
