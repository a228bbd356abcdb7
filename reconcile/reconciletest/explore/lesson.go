package explore

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// later is how much later the second undisturbed execution begins: what depends on the time differs.
const later = 97*time.Minute + 13*time.Second

// lesson is what is known of a life without disturbances.
type lesson struct {
	*trace
	// volatile are the fields that have other values in each execution, such as passwords, by difference.key.
	volatile map[string]bool
}

// learn lives a life twice without disturbances, and judges it. It returns nil if the life isn't possible, because the
// cluster or the operator refuses an edit, or if there is a finding.
func (e *explorer) learn(l life) (*lesson, error) {
	known := &lesson{trace: e.execute(l, nil, 0, false), volatile: map[string]bool{}}
	if possible, err := known.possible(); !possible || e.note(broken(known.trace)) {
		return nil, err
	}
	second := e.execute(l, nil, later, false)
	if !second.accepted() || e.note(broken(second)) || e.note(known.repeats(second)) || e.note(e.inconstant(known.trace, second)) ||
		e.note(known.inconsistent(e.options.leaves)) || e.note(known.regenerated(known.trace)) {
		return nil, nil
	}
	return known, nil
}

// possible reports whether the cluster and the operator accept what the life begins its chapters with. It returns an
// error if they don't accept the sample as it is.
func (l *lesson) possible() (bool, error) {
	switch {
	case l.refused != nil && len(l.chapters) == 1:
		return false, fmt.Errorf("the cluster refuses the sample: %w", l.refused)
	case l.refused != nil:
		return false, nil
	case l.runs == 0 && l.failure == "":
		return false, errors.New("the operator never reconciles the sample: check whether it filters it out")
	}
	// The operator is right to fail after an edit: not every value that the schema allows makes sense.
	return l.life.sample != nil || l.failure != "" || !l.fails() || l.panicked(), nil
}

// repeats compares the states with those of a second execution. Fields may differ, and are volatile, but names may not.
func (l *lesson) repeats(second *trace) *finding {
	for n := range second.chapters {
		for _, d := range compare(l.chapters[n].end, second.chapters[n].end) {
			if d.Path == "" {
				return found(l.trace, n, "names of objects depend on the time or on chance, so that nobody finds the objects again", d.String())
			}
			l.volatile[d.key()] = true
		}
	}
	return nil
}

// accepted reports whether the cluster accepts all that the life begins chapters with.
func (tr *trace) accepted() bool { return tr.refused == nil }

// fails reports whether a reconcile fails in the end.
func (tr *trace) fails() bool {
	return slices.ContainsFunc(tr.chapters, func(now lived) bool { return len(now.errs) > 0 })
}

// panicked reports whether a reconcile has panicked.
func (tr *trace) panicked() bool {
	return slices.ContainsFunc(tr.chapters, func(now lived) bool { return len(now.panics) > 0 })
}
