package reconcile

import (
	"slices"
	"strings"

	"github.com/operkit/operkit/reconcile/internal/memory"
	"github.com/operkit/operkit/reconcile/request"
)

// Standing is the state of a resource after its last reconcile.
type Standing string

// The standings of a resource.
const (
	// Settled: all components are ready, and nothing is left to do.
	Settled Standing = "settled"
	// Waiting: a component isn't ready yet, or waits for a precondition.
	Waiting Standing = "waiting"
	// Failing: its reconcile failed and is retried.
	Failing Standing = "failing"
	// Refused: its reconcile failed and isn't retried until the resource changes.
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

// Tally counts the resources of a Reconciler, for metrics. The maps have no entries with the count zero.
type Tally struct {
	// Resources counts them by their Standing.
	Resources map[Standing]int
	// Components counts the enabled components of all resources by state. A component that wasn't rolled out in the
	// last reconcile isn't counted.
	Components map[State]int
	// Versions counts the resources by the version that they want (see VersionField), without those that want none.
	Versions map[string]int
	// Contested is the number of objects whose fields somebody else keeps setting, so that they aren't applied for a
	// while, see deploy.ConflictError.
	Contested int
}

// Tally counts the reconciled resources by how their last reconcile ended. Resources that are gone, or have left the
// view, aren't counted. A dry run counts none. It is safe for concurrent use.
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

// standing returns the Standing of the resource after a reconcile that ended with err.
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

// count returns what the resource adds to the Tally after a reconcile that ended with err; before is what it added
// until then.
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
