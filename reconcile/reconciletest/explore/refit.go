package explore

import (
	"cmp"
	"slices"
	"strings"
)

// refit tries disturbances in another life: each at the same request, whose number may differ.
func (s *shrinker) refit(known *lesson, disturbances []armed) *finding {
	tr, last := known.trace, len(disturbances)-1
	var p plan
	for _, a := range disturbances[:last] {
		choices := s.alike(tr, a)
		if len(choices) == 0 {
			return nil
		}
		p = append(p, choices[0])
		if tr = s.execution(known, p); tr == nil {
			return nil
		}
	}
	for _, c := range s.alike(tr, disturbances[last]) {
		tr := s.execution(known, append(slices.Clone(p), c))
		if tr == nil {
			return nil
		}
		if f := s.judge(known, tr); f != nil && f.same(s.best) {
			return f
		}
	}
	return nil
}

// execution follows a plan, unless too many executions were spent.
func (s *shrinker) execution(known *lesson, p plan) *trace {
	if s.left -= len(p); s.left < 0 {
		return nil
	}
	tr, err := s.attempt(known, p, false)
	if err != nil {
		return nil
	}
	return tr
}

// candidates is how many requests are tried in place of one that has another number in another life.
const candidates = 3

// alike returns the disturbances of an execution that are most like one in another execution: those of the same kind,
// at the same request of the same chapter, the nearest first. A request for an object with another name comes after
// those.
func (s *shrinker) alike(tr *trace, a armed) (choices []choice) {
	if a.chapter > len(tr.chapters) {
		return nil
	}
	type ranked struct {
		choice
		rank, distance int
	}
	var found []ranked
	for _, c := range s.possible(tr, a.chapter-1) {
		if c.chapter != a.chapter || c.act != a.act {
			continue
		}
		about := c.arm(tr.chapters[c.chapter-1]).about
		switch {
		case about == a.about:
			found = append(found, ranked{c, 0, max(c.request-a.request, a.request-c.request)})
		case sortOf(about) == sortOf(a.about):
			found = append(found, ranked{c, 1, max(c.request-a.request, a.request-c.request)})
		}
	}
	slices.SortStableFunc(found, func(x, y ranked) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.distance, y.distance))
	})
	for _, one := range found[:min(len(found), candidates)] {
		choices = append(choices, one.choice)
	}
	return choices
}

// sortOf returns the verb and the kind of a request, or the kind of an object.
func sortOf(about string) string {
	words := strings.Fields(about)
	return strings.Join(words[:min(len(words), 2)], " ")
}
