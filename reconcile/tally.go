package reconcile

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/request"
)

// Standing says how it stands with a resource since its last reconcile.
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

// Standings are all there are, in the order of the constants.
func Standings() []Standing {
	return []Standing{Settled, Waiting, Failing, Refused, Paused, Deleting}
}

// states are in the order of the constants.
var states = [...]State{Verified, Unverified, Failed, Unstarted}

// States are those that a component can be in, in the order of the constants.
func States() []State { return slices.Clone(states[:]) }

// Tally counts the resources of a Reconciler, for metrics. What counts nothing is absent.
type Tally struct {
	// Resources counts them by how it stands with them.
	Resources map[Standing]int
	// Components counts the components of all of them that aren't disabled, by state; one that wasn't rolled out at its last
	// reconcile has none.
	Components map[State]int
	// Versions counts them by the version that they want (see VersionField), those that name none left out.
	Versions map[string]int
}

// Tally counts the resources that were reconciled by how their last reconcile ended. Those that are gone, or out of view,
// aren't counted any more. A dry run counts none. It may be called at any time.
func (r *Reconciler) Tally() Tally { return r.tallied.tally() }

// tallied is what is counted of each resource. The zero value is ready for use; it is safe for concurrent use.
type tallied struct {
	mu    sync.Mutex
	known map[place]counted
	sum   Tally
	// contested is the sum of those of all resources.
	contested int
}

// place is where a resource of a known kind is.
type place struct{ namespace, name string }

// counted is what one resource adds.
type counted struct {
	standing   Standing
	components [len(states)]int32
	version    string
	contested  int32
	// failure is what was told of an error, empty for none.
	failure string
	// kept names the objects that weren't pruned since their deletion would take data along.
	kept string
}

// of is how a resource is counted, the zero value if it isn't.
func (t *tallied) of(ref deploy.Ref) counted {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.known[place{ref.Namespace, ref.Name}]
}

// note counts a resource anew.
func (t *tallied) note(ref deploy.Ref, now counted) {
	at := place{ref.Namespace, ref.Name}
	t.mu.Lock()
	defer t.mu.Unlock()
	before, known := t.known[at]
	if known && before == now {
		return
	}
	if t.known == nil {
		t.known = map[place]counted{}
		t.sum = Tally{map[Standing]int{}, map[State]int{}, map[string]int{}}
	}
	if known {
		t.sum.add(before, -1)
	}
	t.known[at] = now
	t.sum.add(now, 1)
	t.contested += int(now.contested - before.contested)
}

func (t *tallied) forget(ref deploy.Ref) {
	at := place{ref.Namespace, ref.Name}
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, known := t.known[at]; known {
		t.sum.add(before, -1)
		t.contested -= int(before.contested)
		delete(t.known, at)
	}
}

func (t *tallied) tally() Tally {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Tally{maps.Clone(t.sum.Resources), maps.Clone(t.sum.Components), maps.Clone(t.sum.Versions)}
}

// add counts c so many times.
func (t Tally) add(c counted, times int) {
	change(t.Resources, c.standing, times)
	for i, state := range states {
		change(t.Components, state, times*int(c.components[i]))
	}
	if c.version != "" {
		change(t.Versions, c.version, times)
	}
}

func change[K comparable](counts map[K]int, key K, by int) {
	if counts[key] += by; counts[key] == 0 {
		delete(counts, key)
	}
}

// standing is how it stands with a resource whose reconcile ended with err.
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

// counted is what the resource of a session adds to the tally after a reconcile that ended with err, and before it.
func (s *Session) counted(before counted, err error) counted {
	told, passes := s.failure(err)
	c := counted{standing: s.standing(err), version: s.version, failure: told, kept: strings.Join(s.unpruned, ", ")}
	if passes && before.standing != "" {
		// It passes by itself, and nothing is known anew.
		c.failure, c.components, c.kept, c.contested = before.failure, before.components, before.kept, before.contested
		if request.IsQuiet(err) {
			c.standing = before.standing
		}
		return c
	}
	if s.ended.outcome == nil {
		return c
	}
	c.contested = s.contested()
	for name, component := range s.ended.outcome.Components {
		if of := s.Component(name); of != nil && of.disabled {
			continue
		}
		if i := slices.Index(states[:], component.State); i >= 0 {
			c.components[i]++
		}
	}
	return c
}
