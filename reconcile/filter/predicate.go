package filter

import (
	"fmt"
	"slices"

	"github.com/operkit/operkit/deploy"
)

// Predicate reports whether an event counts. It must depend on the event alone, change nothing, not block, and be safe
// for concurrent use. In And, Or, Not and While nil is Always.
type Predicate func(event deploy.Event) bool

func (p Predicate) passes(event deploy.Event) bool { return p == nil || p(event) }

// Always passes every event.
func Always() Predicate { return func(deploy.Event) bool { return true } }

// Never passes no event.
func Never() Predicate { return func(deploy.Event) bool { return false } }

// And is true when all predicates are true, and when there are no predicates. Predicates after the first false one
// aren't called.
func And(predicates ...Predicate) Predicate {
	all := slices.Clone(predicates)
	return func(event deploy.Event) bool {
		return !slices.ContainsFunc(all, func(p Predicate) bool { return !p.passes(event) })
	}
}

// Or is true when one predicate is true; the predicates after that one aren't called. Unlike in logic, Or without
// predicates is true: an empty list of filters refuses nothing.
func Or(predicates ...Predicate) Predicate {
	all := slices.Clone(predicates)
	return func(event deploy.Event) bool {
		return len(all) == 0 || slices.ContainsFunc(all, func(p Predicate) bool { return p.passes(event) })
	}
}

// Not is true when predicate is false.
func Not(predicate Predicate) Predicate {
	return func(event deploy.Event) bool { return !predicate.passes(event) }
}

// While passes the events that changes passes, for objects for which state is true: While(Labels(selector),
// Standard()). An update by which state becomes true passes too, because earlier changes were refused. state must
// consist of predicates of state: Labels, Paused, WithoutGeneration, and And, Or and Not of these.
func While(state, changes Predicate) Predicate {
	return And(state, Or(changes, func(event deploy.Event) bool {
		before := deploy.Event{Type: deploy.Added, New: event.Old}
		return isUpdate(event) && !state.passes(before)
	}))
}

// Ignoring passes an update as predicate does, but as if the annotations with these keys hadn't changed: name those
// that the reconciler itself writes. An update that changes nothing else is refused. All other events pass as predicate
// says.
func Ignoring(predicate Predicate, annotations ...string) Predicate {
	ignored := slices.Clone(annotations)
	return func(event deploy.Event) bool {
		if !isUpdate(event) || !differIn(ignored, event.Old, event.New) {
			return predicate.passes(event)
		}
		event.Old = withAnnotationsOf(event.New, event.Old, ignored)
		return !isRepeated(event.Old, event.New) && predicate.passes(event)
	}
}

// Standard is the default of the engine of package watch: it is true when an object is created or deleted, its deletion
// begins, its generation, a label or an annotation changes, or a finalizer is removed. For objects without a generation
// every event counts, except an update that only adds finalizers, or in which a replica takes or releases a lock (see
// Leasing). A change of the status alone doesn't count.
func Standard() Predicate {
	// The cheapest and most frequent predicates come first.
	return Or(Generation(), And(WithoutGeneration(), Not(Leasing()), Not(finalizersAdded())), Lifecycle(), LabelsChanged(), Annotations(), Finalizers())
}

// Named returns a set of filters by its name in oper8's configuration: default, annotation or user-annotation; an empty
// name means default. The package documentation shows the predicates of each set. domain is the domain of the
// annotation for pauses, see Paused. Any other name is an error.
func Named(name, domain string) (Predicate, error) {
	usual := Or(
		UnlessPaused(domain, Or(Lifecycle(), Generation(), And(WithoutGeneration(), Content()))),
		While(Paused(domain), Created()), // so that the status can show the pause
	)
	switch name {
	case "", "default":
		return usual, nil
	case "annotation":
		return Or(usual, Annotations()), nil
	case "user-annotation":
		return Or(usual, UserAnnotations()), nil
	}
	return nil, fmt.Errorf("filter %q: unknown name: use default, annotation or user-annotation", name)
}
