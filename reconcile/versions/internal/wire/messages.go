package wire

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile"
)

// Read has the arguments of a call that reads, watches or deletes objects. Session is empty for a call outside of a
// session.
type Read struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Ref     Ref    `cbor:"2,keyasint"`
	// Labels is a selector as text; Live means to read from the cluster instead of the manager's store.
	Labels string `cbor:"3,keyasint,omitempty"`
	Fields string `cbor:"4,keyasint,omitempty"`
	Live   bool   `cbor:"5,keyasint,omitempty"`
	// UID and Propagation are the precondition and the propagation policy of a deletion.
	UID         string `cbor:"6,keyasint,omitempty"`
	Propagation string `cbor:"7,keyasint,omitempty"`
}

// Found is the answer to a Read.
type Found struct {
	Contents []map[string]any `cbor:"1,keyasint"`
}

// Recorded is a Kubernetes event about the resource of a session.
type Recorded struct {
	Session string `cbor:"1,keyasint"`
	Type    string `cbor:"2,keyasint,omitempty"`
	Reason  string `cbor:"3,keyasint"`
	Note    string `cbor:"4,keyasint"`
}

// StatusField is a field of the status of a session's resource, which the manager writes with the status.
type StatusField struct {
	Session string `cbor:"1,keyasint"`
	Path    string `cbor:"2,keyasint"`
	// Value is the value, or Problem why it can't be encoded.
	Value   any      `cbor:"3,keyasint"`
	Problem *Problem `cbor:"4,keyasint,omitempty"`
}

// Condition is a condition of the controller's own, which the manager writes with the status.
type Condition struct {
	Session string `cbor:"1,keyasint"`
	Type    string `cbor:"2,keyasint"`
	Status  string `cbor:"3,keyasint"`
	Reason  string `cbor:"4,keyasint"`
	Message string `cbor:"5,keyasint,omitempty"`
}

// Logged is a log line.
type Logged struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Level   int    `cbor:"2,keyasint"`
	Text    string `cbor:"3,keyasint"`
	// Attributes are names and values as text, alternating.
	Attributes []string `cbor:"4,keyasint,omitempty"`
	// Time is in nanoseconds since 1970.
	Time int64 `cbor:"5,keyasint"`
}

// SourceReport has the keys that an external source brings, or in Text why it can't be read.
type SourceReport struct {
	Kind Kind   `cbor:"1,keyasint"`
	Keys []Ref  `cbor:"2,keyasint,omitempty"`
	Text string `cbor:"3,keyasint,omitempty"`
}

// HookCall is a call of a hook or of Finalize.
type HookCall struct {
	Session string   `cbor:"1,keyasint"`
	Hook    string   `cbor:"2,keyasint"`
	Outcome *Outcome `cbor:"3,keyasint,omitempty"`
	// Given is the error that Exhausted is called with.
	Given *Problem `cbor:"4,keyasint,omitempty"`
}

// HookAnswer is the answer to a HookCall. After is the result of Requeue, in nanoseconds. Described has the components
// that Finalize added, nil if it added none.
type HookAnswer struct {
	After     int64      `cbor:"1,keyasint,omitempty"`
	Described *Described `cbor:"2,keyasint,omitempty"`
}

// EventQuery asks whether an event counts, or which resources to reconcile for it. Owned or Mapped is the number of the
// source, counted from 1; if neither is set, the event is about the resource itself.
type EventQuery struct {
	Kind   Kind           `cbor:"1,keyasint"`
	Owned  int            `cbor:"2,keyasint,omitempty"`
	Mapped int            `cbor:"3,keyasint,omitempty"`
	Type   string         `cbor:"4,keyasint"`
	Old    map[string]any `cbor:"5,keyasint,omitempty"`
	New    map[string]any `cbor:"6,keyasint"`
}

// Session begins a session.
type Session struct {
	ID       string         `cbor:"1,keyasint"`
	Kind     Kind           `cbor:"2,keyasint"`
	Resource map[string]any `cbor:"3,keyasint"`
	Version  string         `cbor:"4,keyasint"`
	DryRun   bool           `cbor:"5,keyasint,omitempty"`
	// Level is the lowest log level of the session.
	Level int `cbor:"6,keyasint,omitempty"`
}

// Described has the components that Setup or Finalize added.
type Described struct {
	// Instance identifies the process: digests of different instances can't be compared.
	Instance   string      `cbor:"1,keyasint"`
	Kinds      []Kind      `cbor:"2,keyasint"`
	Components []Component `cbor:"3,keyasint"`
}

// Component is one component.
type Component struct {
	Name     string `cbor:"1,keyasint"`
	Disabled bool   `cbor:"2,keyasint,omitempty"`
	// If Built is true, the objects are rendered later, by a call of Render when the component is about to be deployed.
	// Otherwise Objects or Problem is set.
	Built   bool     `cbor:"3,keyasint,omitempty"`
	After   []Edge   `cbor:"4,keyasint,omitempty"`
	Objects []Object `cbor:"5,keyasint,omitempty"`
	Problem *Problem `cbor:"6,keyasint,omitempty"`
}

// Edge is one component that another waits for.
type Edge struct {
	Upstream string `cbor:"1,keyasint"`
	// Ready reports whether reconcile.Ready is one of the gates, and OtherGates whether there are other gates.
	Ready      bool `cbor:"2,keyasint,omitempty"`
	OtherGates bool `cbor:"3,keyasint,omitempty"`
}

// Object is one object that is deployed as it was rendered, see reconcile.Finished.
type Object struct {
	_    struct{} `cbor:",toarray"`
	Name string
	// Kind is the index of the object's kind in the Kinds of the message.
	Kind           int
	Namespace, Ref string
	Digest         uint64
	Judged         Judged
	// Content is set if there is no digest.
	Content map[string]any
}

// Judged is how Judge is called for an object.
type Judged uint8

// The ways in which an object is judged.
const (
	// NotJudged: Judge isn't called.
	NotJudged Judged = iota
	// JudgedAlone: Judge decides whether the object is ready.
	JudgedAlone
	// JudgedToo: the manager decides, and Judge is called for an object that the manager finds ready.
	JudgedToo
)

// Objects are the objects of a component.
type Objects struct {
	Kinds   []Kind   `cbor:"1,keyasint"`
	Objects []Object `cbor:"2,keyasint"`
}

// Part names a part of a session: a component, one of its objects, or one of its dependencies.
type Part struct {
	Session   string `cbor:"1,keyasint"`
	Component string `cbor:"2,keyasint"`
	Object    string `cbor:"3,keyasint,omitempty"`
	Upstream  string `cbor:"4,keyasint,omitempty"`
	// Live is the object in the cluster, for Judge.
	Live map[string]any `cbor:"5,keyasint,omitempty"`
}

// Outcome is a reconcile.Outcome as it is sent.
type Outcome struct {
	Components []ComponentOutcome `cbor:"1,keyasint"`
	Hook       *Problem           `cbor:"2,keyasint,omitempty"`
}

// ComponentOutcome is the outcome of one component.
type ComponentOutcome struct {
	Name     string   `cbor:"1,keyasint"`
	State    string   `cbor:"2,keyasint"`
	Deployed bool     `cbor:"3,keyasint,omitempty"`
	Problem  *Problem `cbor:"4,keyasint,omitempty"`
	Reason   string   `cbor:"5,keyasint,omitempty"`
}

// NewOutcome converts an outcome for sending.
func NewOutcome(o reconcile.Outcome) *Outcome {
	sent := &Outcome{Hook: NewProblem(o.Hook)}
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		c := o.Components[name]
		sent.Components = append(sent.Components, ComponentOutcome{name, string(c.State), c.Deployed, NewProblem(c.Err), c.Reason})
	}
	return sent
}

// Outcome returns the outcome that was sent, without its graph; the zero value for nil.
func (o *Outcome) Outcome() reconcile.Outcome {
	if o == nil {
		return reconcile.Outcome{}
	}
	outcome := reconcile.Outcome{Components: make(map[string]reconcile.ComponentOutcome, len(o.Components)), Hook: o.Hook.Err()}
	for _, c := range o.Components {
		outcome.Components[c.Name] = reconcile.ComponentOutcome{
			State: reconcile.State(c.State), Deployed: c.Deployed, Err: c.Problem.Err(), Reason: c.Reason,
		}
	}
	return outcome
}
