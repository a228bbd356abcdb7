package dag

import (
	"fmt"
	"maps"
	"slices"
)

// Outcomes is what a State is made of where no run makes it, as when several runs are
// summed up in one. The zero value is that of no nodes.
type Outcomes struct {
	// The four sets of nodes, in any order. A name that is in one of them twice counts once.
	Verified, Unverified, Failed, Unstarted []string
	// Errors in the order in which they came up. The name of one that belongs to no node is
	// empty; those without an error are left out.
	Errors []NodeError
	// Reasons says, for unstarted nodes, why they are.
	Reasons map[string]string
}

// NewState makes a state of o, which it doesn't keep. A name in two of the sets is an
// [ErrOverlap], an empty one an [ErrInvalidNode] (spec: dag 29).
func NewState(o Outcomes) (State, error) {
	ends := map[string]Outcome{}
	sets := [outcomes][]string{OutcomeUnstarted: o.Unstarted, OutcomeVerified: o.Verified, OutcomeUnverified: o.Unverified, OutcomeFailed: o.Failed}
	for _, end := range []Outcome{OutcomeVerified, OutcomeUnverified, OutcomeFailed, OutcomeUnstarted} {
		for _, name := range sets[end] {
			if name == "" {
				return State{}, fmt.Errorf("state: %s: %w", end, ErrInvalidNode)
			}
			if other, taken := ends[name]; taken && other != end {
				return State{}, fmt.Errorf("node %q: both %s and %s: %w", name, other, end, ErrOverlap)
			}
			ends[name] = end
		}
	}
	names := slices.Sorted(maps.Keys(ends))
	r := &result{plan: &plan{names: names}, outcomes: make([]Outcome, len(names)), stopped: none, reasons: map[string]string{}}
	for i, name := range names {
		r.outcomes[i] = ends[name]
		if reason, given := o.Reasons[name]; given && ends[name] == OutcomeUnstarted {
			r.reasons[name] = reason
		}
	}
	for _, err := range o.Errors {
		if err.Err != nil {
			r.errs = append(r.errs, err)
		}
	}
	r.count()
	return State{r}, nil
}
