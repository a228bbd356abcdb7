package explore

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// possible reports whether the cluster and the operator accept what the life begins its chapters with. It returns an
// error if they don't accept the sample as it is.
func (l *lesson) possible() (bool, error) {
	switch {
	case !l.accepted() && len(l.chapters) == 1:
		return false, fmt.Errorf("the cluster refuses the sample: %w", l.refused)
	case !l.accepted():
		return false, nil
	case l.runs == 0 && l.failure == "":
		return false, errors.New("the operator never reconciles the sample: check whether it filters it out")
	}
	if l.life.paired() && l.failure == "" && !l.panicked() {
		return !l.refusesSecond(), nil
	}
	// The operator is right to fail after an edit: not every value that the schema allows makes sense.
	return l.life.sample != nil || l.failure != "" || !l.fails() || l.panicked(), nil
}

// stuck finds an operator that fails with an edit, or without an object of others, and still fails when the cause is
// gone.
func (l *lesson) stuck() *finding {
	failed := false
	for n, now := range l.chapters {
		excused := l.life.chapters[n].edited || l.life.chapters[n].lacks
		if failed && !excused && len(now.errs) > 0 {
			name := slices.Min(slices.Collect(maps.Keys(now.errs)))
			return found(l.trace, n, "a reconcile fails though the cause of its failure is gone", name+": "+now.errs[name])
		}
		failed = failed || excused && len(now.errs) > 0
	}
	return nil
}

// accepted reports whether the cluster accepts all that the life begins chapters with.
func (tr *trace) accepted() bool { return tr.refused == nil }

// fails reports whether a reconcile fails in the end, though nothing is missing that it may need.
func (tr *trace) fails() bool {
	for n, now := range tr.chapters {
		if len(now.errs) > 0 && !tr.life.chapters[n].lacks {
			return true
		}
	}
	return false
}

// panicked reports whether a reconcile has panicked.
func (tr *trace) panicked() bool {
	return slices.ContainsFunc(tr.chapters, func(now lived) bool { return len(now.panics) > 0 })
}
