package wire

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile"
)

// Read asks for objects. Session is empty for one that belongs to none.
type Read struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Ref     Ref    `cbor:"2,keyasint"`
	// Labels is a selector as text; Live reads past the store.
	Labels string `cbor:"3,keyasint,omitempty"`
	Fields string `cbor:"4,keyasint,omitempty"`
	Live   bool   `cbor:"5,keyasint,omitempty"`
	// UID and Propagation are those of a deletion.
	UID         string `cbor:"6,keyasint,omitempty"`
	Propagation string `cbor:"7,keyasint,omitempty"`
}

// Found are objects.
type Found struct {
	Contents []map[string]any `cbor:"1,keyasint"`
}

// Recorded is an event about the resource of a session.
type Recorded struct {
	Session string `cbor:"1,keyasint"`
	Type    string `cbor:"2,keyasint,omitempty"`
	Reason  string `cbor:"3,keyasint"`
	Note    string `cbor:"4,keyasint"`
}

// Logged is a line for the log.
type Logged struct {
	Session string `cbor:"1,keyasint,omitempty"`
	Level   int    `cbor:"2,keyasint"`
	Text    string `cbor:"3,keyasint"`
	// Attributes are names and their texts, in turn.
	Attributes []string `cbor:"4,keyasint,omitempty"`
	// Time is in nanoseconds since 1970.
	Time int64 `cbor:"5,keyasint"`
}

// Brought is what an external source brings, or why it can't be read.
type Brought struct {
	Kind Kind   `cbor:"1,keyasint"`
	Keys []Ref  `cbor:"2,keyasint,omitempty"`
	Text string `cbor:"3,keyasint,omitempty"`
}

// Hooked calls a hook, or Finalize.
type Hooked struct {
	Session string   `cbor:"1,keyasint"`
	Hook    string   `cbor:"2,keyasint"`
	Outcome *Outcome `cbor:"3,keyasint,omitempty"`
	// Given is the error of Exhausted.
	Given *Problem `cbor:"4,keyasint,omitempty"`
}

// HookAnswer is the answer of a hook: After is the one of Requeue, in nanoseconds, and Described the one of Finalize,
// nil if Finalize has added no components.
type HookAnswer struct {
	After     int64      `cbor:"1,keyasint,omitempty"`
	Described *Described `cbor:"2,keyasint,omitempty"`
}

// Happened asks what an event means. Owned or Mapped is the number of the source, counted from 1; if neither is set,
// the event is about the resource.
type Happened struct {
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
	// Level is the lowest level of lines that may be logged of it.
	Level int `cbor:"6,keyasint,omitempty"`
}

// Described is what a Setup added.
type Described struct {
	// Instance distinguishes the digests of one process from those of others.
	Instance   string      `cbor:"1,keyasint"`
	Kinds      []Kind      `cbor:"2,keyasint"`
	Components []Component `cbor:"3,keyasint"`
}

// Component is one component.
type Component struct {
	Name     string `cbor:"1,keyasint"`
	Disabled bool   `cbor:"2,keyasint,omitempty"`
	// Built: its objects have to be rendered by a call when its turn has come. Else Objects or Problem is set.
	Built   bool     `cbor:"3,keyasint,omitempty"`
	After   []Edge   `cbor:"4,keyasint,omitempty"`
	Objects []Object `cbor:"5,keyasint,omitempty"`
	Problem *Problem `cbor:"6,keyasint,omitempty"`
}

// Edge is one component that another waits for.
type Edge struct {
	Upstream string `cbor:"1,keyasint"`
	// Ready: one of its gates is reconcile.Ready. Asked: it has other gates.
	Ready bool `cbor:"2,keyasint,omitempty"`
	Asked bool `cbor:"3,keyasint,omitempty"`
}

// Object is one finished object.
type Object struct {
	_    struct{} `cbor:",toarray"`
	Name string
	// Kind is the number of its kind among those of the message.
	Kind           int
	Namespace, Ref string
	Digest         uint64
	Judged         bool
	// Content is given where there is no digest.
	Content map[string]any
}

// Objects are the objects of a component.
type Objects struct {
	Kinds   []Kind   `cbor:"1,keyasint"`
	Objects []Object `cbor:"2,keyasint"`
}

// Part names a part of a session: a component, one of its objects, or what it waits for.
type Part struct {
	Session   string `cbor:"1,keyasint"`
	Component string `cbor:"2,keyasint"`
	Object    string `cbor:"3,keyasint,omitempty"`
	Upstream  string `cbor:"4,keyasint,omitempty"`
	// Live is the object that is to be judged.
	Live map[string]any `cbor:"5,keyasint,omitempty"`
}

// Outcome is how a rollout has gone so far.
type Outcome struct {
	Components []ComponentOutcome `cbor:"1,keyasint"`
	Hook       *Problem           `cbor:"2,keyasint,omitempty"`
}

// ComponentOutcome is that of one component.
type ComponentOutcome struct {
	Name     string   `cbor:"1,keyasint"`
	State    string   `cbor:"2,keyasint"`
	Deployed bool     `cbor:"3,keyasint,omitempty"`
	Problem  *Problem `cbor:"4,keyasint,omitempty"`
	Reason   string   `cbor:"5,keyasint,omitempty"`
}

// NewOutcome returns an outcome as it is sent.
func NewOutcome(o reconcile.Outcome) *Outcome {
	sent := &Outcome{Hook: NewProblem(o.Hook)}
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		c := o.Components[name]
		sent.Components = append(sent.Components, ComponentOutcome{name, string(c.State), c.Deployed, NewProblem(c.Err), c.Reason})
	}
	return sent
}

// Outcome returns the outcome that was sent, without its graph; the zero value for none.
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
