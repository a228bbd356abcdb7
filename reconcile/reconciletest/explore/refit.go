package explore

import "slices"

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
	tr, err := s.attempt(known, p)
	if err != nil {
		return nil
	}
	return tr
}
