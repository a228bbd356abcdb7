package explore

import (
	"fmt"
	"slices"
)

// choicesOf returns the disturbances of a life that are tried alone. The creation of a resource is disturbed in the
// life of the sample as it is.
func (e *explorer) choicesOf(known *lesson) []choice {
	return e.possible(known.trace, known.life.first)
}

// disturb tries one disturbance, after those of its task.
func (e *explorer) disturb(j *job) {
	tr := e.follow(j.lesson, j.disturbances(), true)
	wrong := e.note(e.judge(j.lesson, tr))
	if len(j.before) > 0 {
		e.paired++
		return
	}
	e.disturbed++
	e.covered.tried(j.lesson, j.last.choice)
	if !wrong && !tr.equal {
		e.deepen(j, tr)
	}
}

// follow executes a life with disturbances. ends means that the execution ends when it comes into a state that goes on
// as in an earlier one.
func (e *explorer) follow(known *lesson, disturbances []armed, ends bool) *trace {
	tr := e.execute(known.life, disturbances, 0, ends)
	e.atlas.followed(known, tr)
	return tr
}

// attempt executes a life with a plan. Each choice is about the requests of the execution with the choices before it.
// It returns an error if the plan doesn't fit.
func (e *explorer) attempt(known *lesson, p plan) (*trace, error) {
	tr := known.trace
	var disturbances []armed
	for _, c := range p {
		if !slices.Contains(e.possible(tr, c.chapter-1), c) {
			return nil, fmt.Errorf("plan %s: %s of %q has no such request or object: the operator has changed since it was found", p, c, known.life)
		}
		disturbances = append(disturbances, c.arm(tr.chapters[c.chapter-1]))
		tr = e.follow(known, disturbances, false)
	}
	return tr, nil
}

// following returns the disturbances of an execution that can come after its last one.
func (e *explorer) following(tr *trace, last choice) (choices []choice) {
	for _, c := range e.possible(tr, last.chapter-1) {
		if c.follows(last) {
			choices = append(choices, c)
		}
	}
	return choices
}

// follows reports whether a choice comes after another one. In one chapter only one process can be killed.
func (c choice) follows(first choice) bool {
	if c.chapter != first.chapter {
		return c.chapter > first.chapter
	}
	switch {
	case first.atEnd() || c.place() == atPoint || c.act == miss || first.lags() && c.atEnd():
		return false
	case c.atEnd() || first.place() != atRequest:
		return true
	}
	return c.request > first.request && !(c.act.kills() && first.act.kills())
}

// atEnd reports whether a disturbance happens at the end of its chapter.
func (c choice) atEnd() bool { return c.act == restart || c.place() == atChild }

// note adds a finding, unless there is one like it, and reports whether there is any.
func (e *explorer) note(f *finding) bool {
	if f == nil {
		return false
	}
	for _, other := range e.findings {
		if f.same(other) {
			return true
		}
	}
	e.findings = append(e.findings, f)
	return true
}
