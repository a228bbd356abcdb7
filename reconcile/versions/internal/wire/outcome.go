package wire

import (
	"maps"
	"slices"

	"github.com/operkit/operkit/reconcile"
)

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

// NewOutcome is an outcome as it is sent.
func NewOutcome(o reconcile.Outcome) *Outcome {
	sent := &Outcome{Hook: NewProblem(o.Hook)}
	for _, name := range slices.Sorted(maps.Keys(o.Components)) {
		c := o.Components[name]
		sent.Components = append(sent.Components, ComponentOutcome{name, string(c.State), c.Deployed, NewProblem(c.Err), c.Reason})
	}
	return sent
}

// Outcome is the outcome that was sent, without its graph; the zero value for none.
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
