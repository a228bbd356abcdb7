package dag

import (
	"errors"
	"slices"
	"strings"
)

// State is how far a run got: each node of the graph is in exactly one of four sets. It is a
// value that never changes; the zero value is the state of a run without nodes. Slices that its
// methods return belong to the caller.
type State struct{ result *result }

// Verified are the nodes whose visit returned nil, by name.
func (s State) Verified() []string { return s.set(OutcomeVerified) }

// Unverified are the nodes whose visit returned an error of [Unverified], by name.
func (s State) Unverified() []string { return s.set(OutcomeUnverified) }

// Failed are the nodes whose visit returned another error, panicked, or called runtime.Goexit,
// by name.
func (s State) Failed() []string { return s.set(OutcomeFailed) }

// Unstarted are the nodes that weren't visited, by name. [State.Reason] says why.
func (s State) Unstarted() []string { return s.set(OutcomeUnstarted) }

// All are the nodes of the four sets together, by name.
func (s State) All() []string {
	return slices.Sorted(slices.Values(slices.Concat(s.Verified(), s.Unverified(), s.Failed(), s.Unstarted())))
}

// Outcome is how one node ended; ok is false when the state has no node of that name.
func (s State) Outcome(name string) (end Outcome, ok bool) {
	if s.result == nil {
		return OutcomeUnstarted, false
	}
	id := s.result.plan.find(name)
	if id == none {
		return OutcomeUnstarted, false
	}
	return s.result.outcomes[id], true
}

func (s State) set(o Outcome) []string {
	if s.result == nil {
		return nil
	}
	return slices.Clone(s.result.sets()[o])
}

func (s State) count(o Outcome) int {
	if s.result == nil {
		return 0
	}
	return s.result.counts[o]
}

// Errors are the errors of the nodes in the order in which they came up: one per failed and
// unverified node, and one per node that an error of a predicate kept from starting.
func (s State) Errors() []NodeError {
	if s.result == nil {
		return nil
	}
	return slices.Clone(s.result.errs)
}

// Err is the error of one node as its visit or predicate returned it, or nil when it had none.
func (s State) Err(name string) error {
	if s.result == nil {
		return nil
	}
	return s.result.errOf(name)
}

// JoinedErr is all of Errors as one error, or nil when there are none. errors.Is and errors.As
// find each of them.
func (s State) JoinedErr() error {
	if s.result == nil {
		return nil
	}
	errs := make([]error, len(s.result.errs))
	for i, err := range s.result.errs {
		errs[i] = err
	}
	return errors.Join(errs...)
}

// Headline is the one error to show where there is room for one: the first that makes the run
// count as failed, else the first at all, nil when there are none. It is a [NodeError].
func (s State) Headline() error {
	if s.result == nil || len(s.result.errs) == 0 {
		return nil
	}
	for _, err := range s.result.errs {
		if s.result.outcomeOf(err.Name) == OutcomeFailed || isFatal(err.Err) {
			return err
		}
	}
	return s.result.errs[0]
}

// Reason says why a node is unstarted: that it is disabled, for what it waits in vain and how
// that ended, which predicate answered false or returned an error, or that the run was cancelled
// or stopped. It is empty for a node that was started, or isn't there.
func (s State) Reason(name string) string {
	if s.result == nil {
		return ""
	}
	return s.result.reasonOf(name)
}

// DeployCompleted tells whether every node did its work: none is failed or unstarted. Unverified
// ones may be there, and errors don't count (spec: dag 31).
func (s State) DeployCompleted() bool {
	return s.count(OutcomeFailed) == 0 && s.count(OutcomeUnstarted) == 0
}

// VerifyCompleted tells whether every node is verified, and there is no error (spec: dag 32).
func (s State) VerifyCompleted() bool {
	return s.DeployCompleted() && s.count(OutcomeUnverified) == 0 && (s.result == nil || len(s.result.errs) == 0)
}

// HasFailed tells whether a node failed, or any error is fatal. An error that has, or wraps one
// that has, a method Fatal() bool decides by it; any other one is fatal, except for that of
// Unverified(nil) (spec: dag 33).
func (s State) HasFailed() bool {
	return s.count(OutcomeFailed) > 0 ||
		s.result != nil && slices.ContainsFunc(s.result.errs, func(err NodeError) bool { return isFatal(err.Err) })
}

// Equal tells whether the same nodes are in the same sets. Errors and reasons don't count
// (spec: dag 30).
func (s State) Equal(other State) bool {
	for o := range Outcome(outcomes) {
		if !slices.Equal(s.set(o), other.set(o)) {
			return false
		}
	}
	return true
}

// String is a line for each of the four sets, and one for the joined error (spec: dag 34).
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
