package filter

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
)

// Predicate reports whether an event counts. It must depend on the event alone, change nothing, not block, and be safe
// for concurrent use. In And, Or, Not and While nil stands for Always: no filter refuses nothing.
type Predicate func(event deploy.Event) bool

func (p Predicate) passes(event deploy.Event) bool { return p == nil || p(event) }

// Always lets every event pass.
func Always() Predicate { return func(deploy.Event) bool { return true } }

// Never lets none pass.
func Never() Predicate { return func(deploy.Event) bool { return false } }

// And is true when all predicates are, and when there are none. Those after the first that is false aren't asked.
func And(predicates ...Predicate) Predicate {
	all := slices.Clone(predicates)
	return func(event deploy.Event) bool {
		return !slices.ContainsFunc(all, func(p Predicate) bool { return !p.passes(event) })
	}
}

// Or is true when one predicate is; those after it aren't asked. Unlike in logic it is true also when there are none: an
// empty list of filters refuses nothing.
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
// that makes an object so passes too, because what changed before was refused. State is to be
// of predicates that look at what an object is: Labels, Paused, WithoutGeneration, and And, Or and Not of such.
func While(state, changes Predicate) Predicate {
	return And(state, Or(changes, func(event deploy.Event) bool {
		before := deploy.Event{Type: deploy.Added, New: event.Old}
		return isUpdate(event) && !state.passes(before)
	}))
}

// Standard is what the engine of package watch does for controlled objects when nothing else is set: they come or go,
// their deletion begins, their generation, a label or an annotation changes, a finalizer is taken off. Of objects
// without a generation every event counts, save that a replica takes or releases one (see Annotations). A status alone
// doesn't.
func Standard() Predicate {
	// What is told soonest, and most often changes, comes first.
	return Or(Generation(), And(WithoutGeneration(), Not(Leasing())), Lifecycle(), LabelsChanged(), Annotations(), Finalizers())
}

// Named returns a set of filters by the name that it has in oper8's configuration: default, annotation or
// user-annotation; no name is default. The package documentation shows what they are made of. Domain is that of the
// annotation that pauses, see Paused. Any other name is an error.
func Named(name, domain string) (Predicate, error) {
	usual := Or(
		UnlessPaused(domain, Or(Lifecycle(), Generation(), And(WithoutGeneration(), Content()))),
		While(Paused(domain), Created()), // so that its pause can be shown
	)
	switch name {
	case "", "default":
		return usual, nil
	case "annotation":
		return Or(usual, Annotations()), nil
	case "user-annotation":
		return Or(usual, UserAnnotations()), nil
	}
	return nil, fmt.Errorf("filter %q: there is none of that name: use default, annotation or user-annotation", name)
}
