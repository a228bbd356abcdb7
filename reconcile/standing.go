package reconcile

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
)

// Standing is how a resource stands since its last reconcile.
type Standing string

// The standings of a resource.
const (
	// Settled: all of it is ready, and nothing is left to do.
	Settled Standing = "settled"
	// Waiting: some of it isn't ready yet, or waits for something outside.
	Waiting Standing = "waiting"
	// Failing: its reconcile failed and is tried again.
	Failing Standing = "failing"
	// Refused: its reconcile failed and isn't tried again until it changes.
	Refused Standing = "refused"
	// Paused: it is paused, see ConditionPaused.
	Paused Standing = "paused"
	// Deleting: it is being deleted, and nothing has failed.
	Deleting Standing = "deleting"
)

// Standings returns all of them, in the order of the constants.
func Standings() []Standing {
	return []Standing{Settled, Waiting, Failing, Refused, Paused, Deleting}
}

// Tally counts the resources of a Reconciler, for metrics. What counts nothing is absent.
type Tally struct {
	// Resources counts them by their Standing.
	Resources map[Standing]int
	// Components counts the components of all of them that aren't disabled, by state. A component that wasn't rolled
	// out at the last reconcile has none.
	Components map[State]int
	// Versions counts them by the version that they want (see VersionField), without those that name none.
	Versions map[string]int
	// Contested is how many objects of all resources somebody else sets again and again, so that they are left alone
	// for a while, see deploy.ConflictError.
	Contested int
}

// Tally counts the resources that were reconciled by how their last reconcile ended. Those that are gone, or out of
// view, aren't counted any more. A dry run counts none. It may be called at any time.
func (r *Reconciler) Tally() Tally {
	sums := r.memory.Sums()
	if sums.Standings == nil {
		return Tally{}
	}
	tally := Tally{Resources: map[Standing]int{}, Components: map[State]int{}, Versions: sums.Versions, Contested: sums.Contested}
	for standing, count := range sums.Standings {
		tally.Resources[Standing(standing)] = count
	}
	for i, count := range sums.Components {
		if count > 0 {
			tally.Components[states[i]] = count
		}
	}
	return tally
}

// standing is how the resource stands after a reconcile that ended with err.
func (s *Session) standing(err error) Standing {
	switch {
	case err != nil && request.IsPermanent(err):
		return Refused
	case err != nil:
		return Failing
	case s.resource.GetDeletionTimestamp() != nil:
		return Deleting
	case s.ended.outcome != nil && s.ended.err == nil && s.ended.outcome.Complete():
		return Settled
	}
	return Waiting
}

// count is how the resource counts after a reconcile that ended with err; before is how it counted until then.
func (s *Session) count(before memory.Count, err error) memory.Count {
	failure, passes := s.failure(err)
	c := memory.Count{Standing: string(s.standing(err)), Version: s.version, Failure: failure, Kept: strings.Join(s.unpruned, ", ")}
	if passes && before.Standing != "" {
		// Nothing new is known.
		c.Failure, c.Components, c.Kept, c.Contested = before.Failure, before.Components, before.Kept, before.Contested
		if request.Resolve(err).Quiet {
			c.Standing = before.Standing
		}
		return c
	}
	if s.ended.outcome == nil {
		return c
	}
	c.Contested = s.contested()
	for name, component := range s.ended.outcome.Components {
		if of := s.Component(name); of != nil && of.disabled {
			continue
		}
		if i := slices.Index(states[:], component.State); i >= 0 {
			c.Components[i]++
		}
	}
	return c
}
