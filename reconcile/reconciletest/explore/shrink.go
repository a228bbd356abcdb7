package explore

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// executions is how many executions are spent at most to make one finding smaller.
const executions = 60

// shrinker makes one finding smaller: it tries smaller lives and plans, and keeps those that find the same.
type shrinker struct {
	*explorer
	best *finding
	left int
	// lessons are the smaller lives that have been learned, by their cuts; nil for those that say nothing.
	lessons map[string]*lesson
}

// shrink returns the same finding with fewer disturbances, without the chapters that it doesn't need, and with a
// smaller resource. It spends a number of executions at most, which don't count as visited.
func (e *explorer) shrink(f *finding, executions int) *finding {
	aside := *e
	aside.report, aside.options.findings, aside.reached = report{}, math.MaxInt, map[string]bool{}
	aside.atlas, aside.progress = nil, nil
	s := &shrinker{&aside, f, executions, map[string]*lesson{}}
	for i := len(s.best.disturbances) - 1; i >= 0 && len(s.best.disturbances) > 1; i-- {
		s.try(s.best.cuts, slices.Delete(slices.Clone(s.best.disturbances), i, i+1))
	}
	s.chapters()
	for _, cut := range cutsOf(f.whole.resource) {
		if f.whole.edits(cut) {
			continue // the story would lose the edit
		}
		s.try(append(slices.Clone(s.best.cuts), cut), s.best.disturbances)
	}
	e.hangs = s.hangs
	return s.best
}

// chapters leaves out chapters before the one in which the finding shows, except for those in which something is
// missing: the life is about them.
func (s *shrinker) chapters() {
	kept := make([]int, s.best.chapter+1)
	for i := range kept {
		kept[i] = i + 1
	}
	for i := len(kept) - 2; i >= 0; i-- {
		armed, can := skipping(s.best.disturbances, i+1)
		if can && !s.best.whole.chapters[kept[i]-1].lacks && s.try(append(slices.Clone(s.best.cuts), fmt.Sprintf("%s%d", chapterWord, kept[i])), armed) {
			kept = slices.Delete(kept, i, i+1)
		}
	}
}

// skipping returns disturbances with the numbers that chapters have without one of them. It returns false if that
// chapter is disturbed.
func skipping(disturbances []armed, chapter int) (all []armed, can bool) {
	for _, a := range disturbances {
		if a.chapter == chapter {
			return nil, false
		}
		if a.chapter > chapter {
			a.chapter--
		}
		all = append(all, a)
	}
	return all, true
}

// try executes a smaller life with disturbances, keeps what it finds if it is the same, and reports whether it is.
func (s *shrinker) try(w cutList, disturbances []armed) bool {
	l, err := w.apply(s.best.whole)
	if err != nil || s.hangs || s.left < 2+len(disturbances) || s.late() {
		return false
	}
	found := s.find(l, w, disturbances)
	if found == nil {
		return false
	}
	found.whole, found.cuts, found.first = s.best.whole, w, s.best.first
	s.best = found
	return true
}

// late reports whether half of the time of an exploration has gone by since its end, and ten seconds.
func (s *shrinker) late() bool {
	return s.options.timed && time.Since(s.ends) > max(s.options.limit/2, 10*time.Second)
}

// find returns what is found in a life with disturbances, nil if it isn't the same.
func (s *shrinker) find(l life, w cutList, disturbances []armed) *finding {
	known, learned := s.lessons[w.String()]
	if !learned {
		s.left -= 2
		s.findings = nil
		known, _ = s.learn(l) // an error means that the life isn't possible
		s.lessons[w.String()] = known
		for _, f := range s.findings {
			if len(disturbances) == 0 && f.same(s.best) {
				return f
			}
		}
	}
	if known == nil || len(disturbances) == 0 {
		return nil
	}
	return s.refit(known, disturbances)
}
