package readiness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Summary is what several results come to.
type Summary struct {
	// State is the worst of the results; of none it is Ready. From worst to best
	// they are Failed, Unknown, Terminating, NotFound, InProgress, Ready.
	State State
	// Message is a sentence for people, with the first blockers by name.
	Message string
	// Blockers are the results that aren't Ready, the worst first, then by name, reason
	// and message: the order in which they were given doesn't matter.
	Blockers []Result
	// ReadyCount of Total results are Ready.
	ReadyCount, Total int
}

// Ready tells whether the state is Ready.
func (s Summary) Ready() bool { return s.State == Ready }

// maxNamed is how many blockers a message names.
const maxNamed = 3

// All answers what the results of several objects come to, such as the children
// of one object. The results aren't changed. A result that was made of nothing
// has no name in it: set its Object, or nobody will know what is missing.
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
		parts = append(parts, fmt.Sprintf("%s: %s: %s", says(blocker.Object.String(), "an object"), blocker.State, blocker.Message))
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
	return 1 // Unknown, and whatever a function of somebody's answers
}
