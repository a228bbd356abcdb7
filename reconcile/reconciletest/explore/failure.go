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

// stuck finds an operator that fails with an edit, and still fails when the resource has it no more.
func (l *lesson) stuck() *finding {
	failed := false
	for n, now := range l.chapters {
		edited := l.life.chapters[n].edited
		if failed && !edited && len(now.errs) > 0 {
			name := slices.Min(slices.Collect(maps.Keys(now.errs)))
			return found(l.trace, n, "a reconcile fails though the edit with which it failed is gone", name+": "+now.errs[name])
		}
		failed = failed || edited && len(now.errs) > 0
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
