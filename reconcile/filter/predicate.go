package filter

import (
	"slices"

	"github.com/operkit/operkit/deploy"
)

// Predicate tells whether an event counts. It must depend on the event alone, change nothing, not block, and be safe
// for concurrent use. In And, Or, Not and While nil stands for Always: no filter refuses nothing.
type Predicate func(event deploy.Event) bool

func (p Predicate) passes(event deploy.Event) bool { return p == nil || p(event) }

// Always lets every event pass (spec: watch 29, Enable).
func Always() Predicate { return func(deploy.Event) bool { return true } }

// Never lets none pass (spec: watch 29, Disable).
func Never() Predicate { return func(deploy.Event) bool { return false } }

// And is true when all predicates are, and when there are none. Those after the first that is false aren't asked
// (spec: watch 30, mistake 12).
func And(predicates ...Predicate) Predicate {
	all := slices.Clone(predicates)
	return func(event deploy.Event) bool {
		return !slices.ContainsFunc(all, func(p Predicate) bool { return !p.passes(event) })
	}
}

// Or is true when one predicate is; those after it aren't asked. Unlike in logic it is true also when there are none: an
// empty list of filters refuses nothing (spec: watch 30).
func Or(predicates ...Predicate) Predicate {
	all := slices.Clone(predicates)
	return func(event deploy.Event) bool {
		return len(all) == 0 || slices.ContainsFunc(all, func(p Predicate) bool { return p.passes(event) })
	}
}

// Not is true when predicate isn't.
func Not(predicate Predicate) Predicate {
	return func(event deploy.Event) bool { return !predicate.passes(event) }
}

// While lets pass what changes does, of objects that are as state says: While(Labels(selector), Standard()). An update
// that makes an object so passes too, because what changed before was refused (spec: watch mistake 10). State is to be
// of predicates that look at what an object is: Labels, Paused, WithoutGeneration, and And, Or and Not of such.
func While(state, changes Predicate) Predicate {
	return And(state, Or(changes, func(event deploy.Event) bool {
		before := deploy.Event{Type: deploy.Added, New: event.Old}
		return isUpdate(event) && !state.passes(before)
	}))
}
