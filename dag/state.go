package dag

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// State is the result of a run: each node of the graph is in exactly one of four sets. A State never changes. The zero
// value is the state of a run without nodes. The caller may change the slices that methods return.
type State struct{ result *result }

// Verified returns the nodes whose visit returned nil, sorted by name.
func (s State) Verified() []string { return s.set(OutcomeVerified) }

// Unverified returns the nodes whose visit returned an error made by the function [Unverified], sorted by name.
func (s State) Unverified() []string { return s.set(OutcomeUnverified) }

// Failed returns the nodes whose visit returned any other error, panicked, or called runtime.Goexit, sorted by name.
func (s State) Failed() []string { return s.set(OutcomeFailed) }

// Unstarted returns the nodes that weren't visited, sorted by name. [State.Reason] returns why.
func (s State) Unstarted() []string { return s.set(OutcomeUnstarted) }

// All returns all nodes, sorted by name.
func (s State) All() []string {
	return slices.Sorted(slices.Values(slices.Concat(s.Verified(), s.Unverified(), s.Failed(), s.Unstarted())))
}

// Outcome returns the outcome of a node. ok is false if the state has no such node.
func (s State) Outcome(name string) (outcome Outcome, ok bool) {
	r := s.content()
	id := r.plan.find(name)
	if id == none {
		return OutcomeUnstarted, false
	}
	return r.outcomes[id], true
}

// content returns the result, or an empty result for the zero value.
func (s State) content() *result {
	if s.result == nil {
		return &result{plan: &plan{}, stopped: none}
	}
	return s.result
}

func (s State) set(o Outcome) []string { return slices.Clone(s.content().sets()[o]) }

func (s State) count(o Outcome) int { return s.content().counts[o] }

// Errors returns the errors of the nodes in the order in which they occurred: one for each failed and unverified node,
// and one for each node that an error of a predicate kept from starting.
func (s State) Errors() []NodeError { return slices.Clone(s.content().errs) }

// Err returns the error of a node as its visit or predicate returned it, or nil.
func (s State) Err(name string) error { return s.content().errOf(name) }

// JoinedErr returns all of Errors joined, or nil if there are none.
func (s State) JoinedErr() error {
	var errs []error
	for _, err := range s.content().errs {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Headline returns the error to show where there is room for only one error: the first error that makes the run count
// as failed, or else the first error. It is a [NodeError], or nil if there are no errors.
func (s State) Headline() error {
	errs := s.content().errs
	if len(errs) == 0 {
		return nil
	}
	for _, err := range errs {
		if outcome, _ := s.Outcome(err.Name); outcome == OutcomeFailed || isFatal(err.Err) {
			return err
		}
	}
	return errs[0]
}

// Reason returns why a node is unstarted: that it is disabled, which dependency isn't verified, which predicate
// returned false or an error, or that the run was cancelled or stopped. It is empty for a node that was started, and
// for an unknown name.
func (s State) Reason(name string) string { return s.content().reasonOf(name) }

// DeployCompleted reports whether every node did its work: none is failed or unstarted. Nodes may be unverified. Errors
// are ignored.
func (s State) DeployCompleted() bool {
	return s.count(OutcomeFailed) == 0 && s.count(OutcomeUnstarted) == 0
}

// VerifyCompleted reports whether every node is verified and there is no error.
func (s State) VerifyCompleted() bool {
	return s.DeployCompleted() && s.count(OutcomeUnverified) == 0 && len(s.content().errs) == 0
}

// HasFailed reports whether a node failed or any error is fatal. An error that has a method Fatal() bool, or wraps an
// error with this method, is fatal if Fatal returns true. Any other error is fatal, except for Unverified(nil).
func (s State) HasFailed() bool {
	return s.count(OutcomeFailed) > 0 ||
		slices.ContainsFunc(s.content().errs, func(err NodeError) bool { return isFatal(err.Err) })
}

// Equal reports whether the same nodes are in the same sets. It ignores errors and reasons.
func (s State) Equal(other State) bool {
	for o := range Outcome(outcomes) {
		if !slices.Equal(s.set(o), other.set(o)) {
			return false
		}
	}
	return true
}

// String returns a line for each of the four sets, and a line for the joined error.
func (s State) String() string {
	var b strings.Builder
	for _, o := range []Outcome{OutcomeVerified, OutcomeUnverified, OutcomeFailed, OutcomeUnstarted} {
		name := o.String()
		b.WriteString(strings.ToUpper(name[:1]) + name[1:] + ": [" + strings.Join(s.set(o), ", ") + "]\n")
	}
	b.WriteString("Error: ")
	if err := s.JoinedErr(); err != nil {
		b.WriteString(strings.ReplaceAll(err.Error(), "\n", "; "))
	} else {
		b.WriteString("none")
	}
	return b.String()
}

// Outcome is how a node ended. The zero value is OutcomeUnstarted.
type Outcome uint8

// The outcomes, one for each set of a [State].
const (
	OutcomeUnstarted Outcome = iota
	OutcomeVerified
	OutcomeUnverified
	OutcomeFailed
	outcomes = iota
)

// String returns the outcome as a word, such as "verified".
func (o Outcome) String() string {
	if o >= outcomes {
		return "unknown"
	}
	return [outcomes]string{"unstarted", "verified", "unverified", "failed"}[o]
}

// Outcomes is the input of [NewState], for a state that doesn't come from one run, such as the sum of several runs. The
// zero value has no nodes.
type Outcomes struct {
	// The four sets of nodes, in any order. A name that is twice in one set counts once.
	Verified, Unverified, Failed, Unstarted []string
	// Errors are in the order in which they occurred. NewState leaves out errors with a nil Err. The Name may be empty.
	Errors []NodeError
	// Reasons has the reasons of unstarted nodes.
	Reasons map[string]string
}

// NewState returns a state with a copy of the content of o. Errors are [ErrOverlap] for a name in two of the sets, and
// [ErrInvalidNode] for an empty name.
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
