package filter

import "fmt"

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
// annotation that pauses, see Paused. Any other name is an error (spec: watch 31).
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
