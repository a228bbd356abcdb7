package dag

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
)

// result is the content of a State. It is sorted and indexed on demand.
type result struct {
	plan     *plan
	outcomes []Outcome
	counts   [outcomes]int
	errs     []NodeError
	held     map[int32]held
	// stopped is the node whose failure stopped the run, or none. ended is the error of the run's context.
	stopped int32
	ended   error
	// reasons holds the reasons given to NewState.
	reasons map[string]string

	setsOnce sync.Once
	members  [outcomes][]string

	byNameOnce sync.Once
	byName     map[string]error
}

func (s *scheduler) result() *result {
	r := s.view()
	r.ended = s.ended
	r.count()
	return r
}

func (r *result) count() {
	for _, o := range r.outcomes {
		r.counts[o]++
	}
}

// sets returns the names by outcome, sorted.
func (r *result) sets() *[outcomes][]string {
	r.setsOnce.Do(func() {
		for o, count := range r.counts {
			r.members[o] = make([]string, 0, count)
		}
		_, byName := r.plan.order()
		for _, id := range byName {
			o := r.outcomes[id]
			r.members[o] = append(r.members[o], r.plan.names[id])
		}
	})
	return &r.members
}

// errOf returns the first error of a node. Only a state made by NewState can have several errors of one node.
func (r *result) errOf(name string) error {
	r.byNameOnce.Do(func() {
		r.byName = make(map[string]error, len(r.errs))
		for _, err := range slices.Backward(r.errs) {
			r.byName[err.Name] = err.Err
		}
	})
	return r.byName[name]
}

func (r *result) reasonOf(name string) string {
	if reason, given := r.reasons[name]; given {
		return reason
	}
	id := r.plan.find(name)
	if id == none || r.outcomes[id] != OutcomeUnstarted || len(r.plan.disabled) == 0 {
		return ""
	}
	return r.reason(id)
}

// reason returns why a node is unstarted.
func (r *result) reason(id int32) string {
	if r.plan.disabled[id] {
		return "disabled"
	}
	if held, ok := r.held[id]; ok {
		child := r.plan.names[r.plan.gates[id][held.gate].child]
		if held.abandoned {
			return r.ending() + "; abandoned during the predicate on edge to " + child
		}
		if held.err != nil {
			return fmt.Sprintf("predicate error on edge to %s: %v", child, held.err)
		}
		return "predicate false on edge to " + child
	}
	if child := r.blocker(id); child != none {
		how := r.outcomes[child].String()
		if r.plan.disabled[child] {
			how = "disabled"
		}
		return fmt.Sprintf("waits for %s (%s)", r.plan.names[child], how)
	}
	return r.ending()
}

// blocker returns the child that keeps a node from starting. If there are several, it prefers a failed child, then an
// unverified child, then a disabled child.
func (r *result) blocker(id int32) int32 {
	blocker, weight := none, -1
	for _, child := range r.plan.children.of(id) {
		w := 0
		switch {
		case r.outcomes[child] == OutcomeVerified:
			continue
		case r.outcomes[child] == OutcomeFailed:
			w = 3
		case r.outcomes[child] == OutcomeUnverified:
			w = 2
		case r.plan.disabled[child]:
			w = 1
		}
		if w > weight {
			blocker, weight = child, w
		}
	}
	return blocker
}

// ending returns why nothing more was started.
func (r *result) ending() string {
	switch {
	case r.stopped != none:
		return "stopped after the error of " + r.plan.names[r.stopped]
	case errors.Is(r.ended, context.DeadlineExceeded):
		return "cancelled: the deadline passed"
	}
	return "cancelled"
}
